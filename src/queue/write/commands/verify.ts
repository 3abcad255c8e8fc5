import { Problem } from '../../../platform/problems/problem.js';
import type { Changed, Command } from '../command.js';
import { markVerified } from '../credit.js';
import { recordOf, type State } from '../state.js';

/**
 * Marks the email of a link as verified: a pending record joins the end of the queue, and a credit that waited for this
 * counts. Returns the uuid of the record. A second click changes nothing.
 * @throws Problem `LINK_NOT_FOUND`, also if the link expired or the record has another email now
 */
export function verify(tokenHash: string): Command<Changed> {
  return {
    kind: 'verify',
    weight: 1,
    needs: { link: tokenHash },
    run: (state) => use(state, tokenHash),
  };
}

function use(state: State, tokenHash: string): Changed {
  const { at, linksByHash, usedLinks } = state;
  const link = linksByHash.get(tokenHash);
  const record = link && recordOf(state, link.waiterUuid);
  if (!record || link.emailKey !== record.emailKey || link.expiresAt <= at) throw new Problem('LINK_NOT_FOUND');
  if (link.usedAt !== null) return { uuids: [record.uuid] };
  markVerified(state, record.id);
  for (const other of linksByHash.values()) if (other.waiterUuid === record.uuid) linksByHash.delete(other.tokenHash);
  linksByHash.set(tokenHash, { ...link, usedAt: at });
  usedLinks.push(link);
  return { uuids: [record.uuid] };
}
