import { Injectable } from '@nestjs/common';
import { DeliveryStore } from '../../outbox/delivery.store.js';
import type { SignupEventEntity } from '../../outbox/signup-event.entity.js';
import { SignupEventStore } from '../../outbox/signup-event.store.js';
import { Database } from '../../platform/database/database.js';
import { known, type Query, type Session, together } from '../../platform/database/session.js';
import { eventBody, type ShownQuestion } from './event-body.js';
import { WaiterStore } from './waiter.store.js';

/**
 * Signups in one transaction: 500 deliveries with ten webhooks. Batches that change these records wait for that
 * transaction.
 */
const SIGNUPS_MAX = 50;

/** The webhooks that got deliveries, and whether there may be more signups. */
export interface MadeDeliveries {
  readonly webhookIds: readonly number[];
  readonly hasMore: boolean;
}

/**
 * Makes the deliveries of `new_signup`. To stay fast, the transaction of a signup stores only a short row, and
 * SignupDeliveryMaker makes payload and deliveries soon after. A batch that changes the record makes them first: the
 * payload shows the record as it was; what it shows of the waitlist is in the row.
 */
@Injectable()
export class SignupDeliveries {
  constructor(
    private readonly database: Database,
    private readonly events: SignupEventStore,
    private readonly deliveries: DeliveryStore,
    private readonly waiters: WaiterStore,
  ) {}

  /** Makes the deliveries of the first signups of a waitlist. Several processes may do so at the same time. */
  async makeFirst(waitlistId: number): Promise<MadeDeliveries> {
    return this.database.pipelinedTransaction(async (transaction) => {
      const events = await transaction.one(this.events.lockFirst(waitlistId, SIGNUPS_MAX));
      await transaction.commit([await this.make(transaction, waitlistId, events)]);
      const webhookIds = [...new Set(events.flatMap((event) => event.webhookIds))];
      return { webhookIds, hasMore: events.length === SIGNUPS_MAX };
    });
  }

  /**
   * Reads the records of events that `session` has locked. Returns the query that stores deliveries and deletes events.
   * An event without a record, which belongs to a deleted waitlist, gets none.
   */
  async make(session: Session, waitlistId: number, events: readonly SignupEventEntity[]): Promise<Query<unknown>> {
    if (events.length === 0) return known(undefined);
    const uuids = events.map(({ waiterUuid }) => waiterUuid);
    const records = await session.one(this.waiters.findStored(waitlistId, uuids));
    const byUuid = new Map(records.map((record) => [record.uuid, record]));
    const shown = events.flatMap(
      ({ waiterUuid: uuid, number, position, signupPage, questions, webhookIds, createdAt }) => {
        const record = byUuid.get(uuid);
        if (!record) return [];
        const event = 'new_signup' as const;
        const waiter = { ...record, priority: position };
        const page = { urlLocation: signupPage, hostedPage: signupPage };
        const waitlist = { ...page, questions: JSON.parse(questions) as ShownQuestion[] };
        const body = eventBody({ event, uuid, waiter, referredUuid: null }, waitlist);
        return [{ number, event, waiterUuid: uuid, body, at: createdAt, webhookIds }];
      },
    );
    return together([this.deliveries.insert(waitlistId, shown), this.events.delete(waitlistId, uuids)]);
  }
}
