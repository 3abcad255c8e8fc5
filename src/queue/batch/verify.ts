import { Problem } from '../../platform/problems/problem.js';
import { confirm } from './credit.js';
import type { Changed, Verify } from './facts.js';
import type { State } from './state.js';

/** A second click on the same link finds the same record. @throws Problem `LINK_NOT_FOUND` */
export function verify(state: State, { tokenHash }: Verify): Changed {
  const { at, records, ids, links, usedLinks } = state;
  const link = links.get(tokenHash);
  const record = records.get(ids.get(link?.waiterUuid ?? '') ?? 0);
  if (!link || !record || link.emailKey !== record.emailKey || link.expiresAt <= at)
    throw new Problem('LINK_NOT_FOUND');
  if (link.usedAt !== null) return { uuids: [record.uuid] };
  confirm(state, record.id);
  for (const other of links.values()) if (other.waiterUuid === record.uuid) links.delete(other.tokenHash);
  links.set(tokenHash, { ...link, usedAt: at });
  usedLinks.push(link);
  return { uuids: [record.uuid] };
}
