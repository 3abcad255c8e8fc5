import { Injectable } from '@nestjs/common';
import { DeliveryStore, PAYLOAD_KEPT_MS } from '../outbox/delivery.store.js';
import type { UnsentSignupEntity } from '../outbox/unsent-signup.entity.js';
import { UnsentSignupStore } from '../outbox/unsent-signup.store.js';
import { Database } from '../platform/database/database.js';
import { known, type Query, type Session, together } from '../platform/database/session.js';
import { Problem } from '../platform/problems/problem.js';
import { eventBody } from './event-body.js';
import { QueueStore } from './queue.store.js';
import { WaiterStore } from './waiter.store.js';
import type { LeanWaitlist } from './waitlist.table.js';

/** Signups whose deliveries one transaction makes. */
const SIGNUPS_MAX = 50;

/** The webhooks that got deliveries, and whether more signups may be left. */
export interface MadeDeliveries {
  readonly webhookIds: readonly number[];
  readonly hasMore: boolean;
}

/**
 * Makes the deliveries of `new_signup`. The transaction of a signup stores only a short row for them: with payload and deliveries,
 * a waitlist would take a quarter fewer signups per second. They are made before the record changes, so the payload shows it as it
 * was at the signup.
 */
@Injectable()
export class SignupDeliveries {
  constructor(
    private readonly database: Database,
    private readonly unsent: UnsentSignupStore,
    private readonly deliveries: DeliveryStore,
    private readonly queues: QueueStore,
    private readonly waiters: WaiterStore,
  ) {}

  /** Makes the deliveries of the first signups of a waitlist. Several processes may do so at the same time. */
  async makeFirst(waitlistId: number): Promise<MadeDeliveries> {
    try {
      return await this.database.pipelinedTransaction(async (transaction) => {
        const [waitlist, signups] = await transaction.all([
          this.queues.find(waitlistId),
          this.unsent.lockFirst(waitlistId, SIGNUPS_MAX),
        ]);
        await transaction.commit([await this.make(transaction, waitlist, signups)]);
        const webhookIds = [...new Set(signups.flatMap((signup) => signup.webhookIds))];
        return { webhookIds, hasMore: signups.length === SIGNUPS_MAX };
      });
    } catch (error) {
      if (!(error instanceof Problem) || error.code !== 'WAITLIST_NOT_FOUND') throw error;
      // The waitlist was deleted; its signups are about to be.
      return { webhookIds: [], hasMore: false };
    }
  }

  /** Reads the records of locked signups. Returns the query that stores their deliveries; old ones get none. */
  async make(
    session: Session,
    waitlist: LeanWaitlist,
    signups: readonly UnsentSignupEntity[],
  ): Promise<Query<unknown>> {
    if (signups.length === 0) return known(undefined);
    const uuids = signups.map(({ waiterUuid }) => waiterUuid);
    const records = await session.one(this.waiters.findStored(waitlist.id, uuids));
    const oldestMs = Date.now() - PAYLOAD_KEPT_MS;
    const byUuid = new Map(records.map((record) => [record.uuid, record]));
    const events = signups.flatMap(({ waiterUuid: uuid, number, priority, webhookIds, createdAt: at }) => {
      const record = byUuid.get(uuid);
      if (!record || at.getTime() < oldestMs) return [];
      const event = 'new_signup' as const;
      const body = eventBody({ event, uuid, waiter: { ...record, priority }, referredUuid: null }, waitlist);
      return [{ number, event, waiterUuid: uuid, body, at, webhookIds }];
    });
    return together([this.deliveries.insert(waitlist.id, events), this.unsent.delete(waitlist.id, signups)]);
  }
}
