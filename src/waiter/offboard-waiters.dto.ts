import { AnyText, Confirmation, Id, NestedList, NotWith, WholeNumber } from '../platform/contract/fields.js';
import { Problem } from '../platform/problems/problem.js';
import type { Selection } from '../queue/write/selection.js';
import { RECORDS_PER_CALL_MAX } from './bounds.js';
import { API_KEY, API_KEY_EXAMPLE, WAITLIST_ID } from './named-waitlist.dto.js';

/** Identifies a Waiter. Clients send its other fields too; they are ignored. */
export class WaiterIdDto {
  @Id({ description: 'The `id` from List Waiters.', example: 1 })
  id!: number;
}

export class OffboardWaitersDto {
  @AnyText({ ...API_KEY, example: API_KEY_EXAMPLE })
  api_key?: string;

  @Id(WAITLIST_ID)
  waitlist_id?: number;

  @Confirmation({ description: 'Must be true.', example: true })
  offboard_request!: boolean;

  @NestedList(WaiterIdDto, {
    optional: true,
    minItems: 1,
    maxItems: RECORDS_PER_CALL_MAX,
    description: 'The Waiters to offboard. Required without `offboard_next`.',
  })
  waiters?: WaiterIdDto[];

  @NotWith('waiters')
  @WholeNumber({
    optional: true,
    minimum: 1,
    maximum: RECORDS_PER_CALL_MAX,
    description: 'Offboards this many from the front of the queue, in place of `waiters`.',
  })
  offboard_next?: number;

  /** @throws Problem `INVALID_REQUEST` without `waiters` and `offboard_next` */
  static toSelection({ waiters, offboard_next: next }: OffboardWaitersDto): Selection {
    if (waiters) return { ids: waiters.map(({ id }) => id) };
    if (next === undefined)
      throw Problem.invalid([
        { field: 'waiters', message: 'is required unless offboard_next is given', rule: 'required' },
      ]);
    return { next };
  }
}
