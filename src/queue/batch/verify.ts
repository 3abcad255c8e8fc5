import { Problem } from '../../platform/problems/problem.js';
import { markVerified } from './credit.js';
import type { Changed, Verify } from './facts.js';
import { recordOf, type State } from './state.js';

/** Verifies the email of a link. A second click on the same link changes nothing. @throws Problem `LINK_NOT_FOUND` */
export function verify(state: State, { tokenHash }: Verify): Changed {
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
