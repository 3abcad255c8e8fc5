import { visitorWrite } from '../../../platform/idempotency/account-write.js';
import { Problem } from '../../../platform/problems/problem.js';
import type { Changed, Command } from '../command.js';
import { takeBackCredit } from '../credit.js';
import { eraseRecord } from '../erasure.js';
import { recordOf } from '../state.js';

/**
 * Erases the record of a person who leaves, whatever its status, and takes back the credit that its signup earned:
 * otherwise, joining and leaving again and again would move the referrer up each time. Returns the uuid, or nothing if
 * the record is erased already. `wasSentTo`: whether the link was mailed to this email.
 * @throws Problem `LEAVE_LINK_NOT_FOUND` if the record has another email now
 */
export function leave(
  uuid: string,
  wasSentTo: (emailKey: string | null) => boolean,
  requestId: string,
): Command<Changed> {
  return {
    kind: 'leave',
    weight: 1,
    needs: { uuids: [uuid], canChangeCredit: true },
    run(state) {
      const record = recordOf(state, uuid);
      if (!record) return { uuids: [] };
      if (!wasSentTo(record.emailKey)) throw new Problem('LEAVE_LINK_NOT_FOUND');
      eraseRecord(state, record, takeBackCredit(state, record));
      const write = visitorWrite(state.waitlist.accountId, requestId);
      state.written.push({ write, action: 'waiter_left', uuids: [uuid] });
      return { uuids: [uuid] };
    },
  };
}
