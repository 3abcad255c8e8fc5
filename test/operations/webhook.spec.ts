import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { DeliveryStore } from '../../src/outbox/delivery.store.js';
import { EVENTS } from '../../src/outbox/webhook.entity.js';
import { Database } from '../../src/platform/database/database.js';
import { toSqlTime } from '../../src/platform/database/dialect.js';
import { write } from '../../src/platform/database/session.js';
import { DueDeliveryStore } from '../../src/webhook/due-delivery.store.js';
import type { WebhookWithSecretDto } from '../../src/webhook/webhook.dto.js';
import { Receiver, verify } from '../support/receiver.js';
import { type Service, startService } from '../support/service.js';
import { ServiceProcess, until } from '../support/service-process.js';
import type { OwnedWaitlist } from '../support/world.js';

const RECORDS = 60;
const KILLS = 2;
/** SQLite's, in one statement. */
const PARAMETERS_MAX = 32_766;

describe('a process that sends events', () => {
  /** Shares the database. It is not a server process, so it sends nothing. */
  let observer: Service;
  let receiver: Receiver;
  let processes: ServiceProcess[];
  let webhook: WebhookWithSecretDto & { readonly waitlistId: number };

  beforeEach(async () => {
    observer = await startService({ isolated: true, environment: { WEBHOOK_ALLOWED_NETWORKS: '127.0.0.1' } });
    receiver = await Receiver.start();
    processes = [];
    const { id: waitlistId, owner } = await observer.world.waitlist();
    const { body } = await observer.api.post(
      `/api/v1/waitlist/${waitlistId}/webhook`,
      { url: receiver.url },
      { token: owner.token },
    );
    webhook = { ...(body as WebhookWithSecretDto), waitlistId };
  });
  afterEach(async () => {
    for (const process of processes) {
      process.signal('SIGKILL');
      await process.exit;
    }
    await receiver.stop();
    await observer.stop();
  });

  async function start(): Promise<ServiceProcess> {
    const process = await ServiceProcess.spawn({
      DATABASE_URL: observer.databaseUrl,
      OWNER_EMAIL: '',
      SHUTDOWN_DELAY: '0',
      WEBHOOK_ALLOWED_NETWORKS: '127.0.0.1',
    });
    processes.push(process);
    await process.started();
    return process;
  }

  /** Every kind of event for each record. */
  async function emit(records: number): Promise<void> {
    const at = new Date();
    const events = EVENTS.flatMap((event, place) =>
      Array.from({ length: records }, (_, index) => {
        const number = place * records + index;
        const waiterUuid = `person-${index}`;
        const body = { event, signup: { uuid: waiterUuid, place } };
        return { number, event, waiterUuid, at, body, webhookIds: [webhook.id] };
      }),
    );
    await observer.app.get(Database).one(observer.app.get(DeliveryStore).insert(webhook.waitlistId, events));
    // An erasure's event is due later.
    await endLeases();
  }

  const statuses = async () =>
    observer.app
      .get(Database)
      .dataSource.query<{ status: string; due: number }[]>(
        `SELECT status, CASE WHEN next_attempt_at <= '${toSqlTime(new Date())}' THEN 1 ELSE 0 END AS due FROM delivery`,
      );

  /** Ends the leases of a process that is dead. */
  async function endLeases(): Promise<void> {
    const now = toSqlTime(new Date());
    await observer.app
      .get(Database)
      .one(write('UPDATE delivery SET next_attempt_at = ? WHERE next_attempt_at > ?', [now, now]));
  }

  it('that is killed loses no event: each arrives, repeats have the same id, and events of a record keep their order', async () => {
    await emit(RECORDS);
    for (let kill = 1; kill <= KILLS; kill += 1) {
      const enough = (kill * RECORDS * EVENTS.length) / (KILLS + 2);
      const process = await start();
      await until(() => receiver.received.length >= enough);
      process.signal('SIGKILL');
      await process.exit;
      await endLeases();
    }
    await start();
    await until(async () => (await statuses()).every(({ status }) => status === 'delivered'));

    const bodies = new Map(receiver.received.map(({ id, body }) => [id, body]));
    expect(bodies.size).toBe(RECORDS * EVENTS.length);
    expect(new Set(bodies.values()).size).toBe(RECORDS * EVENTS.length);
    for (const received of receiver.received) {
      expect(received.body).toBe(bodies.get(received.id));
      verify(received, webhook.secret);
    }
    const places = new Map<string, number>();
    for (const { signup } of receiver.received as { signup: { uuid: string; place: number } }[]) {
      const last = places.get(signup.uuid) ?? 0;
      expect(signup.place - last).toBeGreaterThanOrEqual(0);
      expect(signup.place - last).toBeLessThanOrEqual(1);
      places.set(signup.uuid, signup.place);
    }
  });

  describe('lets accounts take turns', () => {
    const LISTS = 8;
    const WEBHOOKS = 5;
    const SIGNUPS = 10;
    /** Arrivals before the other account's. Its turn comes after the first one, but attempts run side by side. */
    const AHEAD_MAX = 20;
    const OTHER = 'other@example.com';
    /** The webhooks of one account's waitlists, by waitlist. */
    let backlog: Map<OwnedWaitlist, number[]>;
    let other: OwnedWaitlist;
    let otherWebhook: number;

    beforeEach(async () => {
      const owner = await observer.world.owner();
      backlog = new Map();
      for (let list = 0; list < LISTS; list += 1) {
        const waitlist = await observer.world.waitlist({}, owner);
        const ids: number[] = [];
        for (let index = 0; index < WEBHOOKS; index += 1) ids.push(await addWebhook(waitlist));
        backlog.set(waitlist, ids);
      }
      other = await observer.world.waitlist();
      otherWebhook = await addWebhook(other);
    });

    async function addWebhook({ id, owner }: OwnedWaitlist): Promise<number> {
      const created = await observer.api.post(
        `/api/v1/waitlist/${id}/webhook`,
        { url: receiver.url },
        { token: owner.token },
      );
      return (created.body as WebhookWithSecretDto).id;
    }

    it('at deliveries: one waits for no backlog of fast webhooks', async () => {
      const insert = async (waitlistId: number, webhookIds: readonly number[], email: string, count: number) => {
        const event = 'new_signup' as const;
        const events = Array.from({ length: count }, (_, number) => {
          const waiterUuid = `${waitlistId}-${number}`;
          return { number, event, waiterUuid, at: new Date(), body: { event, signup: { email } }, webhookIds };
        });
        await observer.app.get(Database).one(observer.app.get(DeliveryStore).insert(waitlistId, events));
      };
      for (const [{ id }, webhookIds] of backlog) await insert(id, webhookIds, 'ada@example.com', SIGNUPS);
      await insert(other.id, [otherWebhook], OTHER, 1);
      await start();

      const isOther = ({ signup }: { signup: { email: string } }) => signup.email === OTHER;
      await until(() => receiver.received.some(isOther));
      expect(receiver.received.findIndex(isOther)).toBeLessThan(AHEAD_MAX);
    });

    it('at new signups: one waits for no rush on many waitlists', async () => {
      for (const waitlist of backlog.keys()) await observer.world.signups(waitlist, SIGNUPS);
      await observer.world.signup(other, { email: OTHER });
      await start();

      // The id of a payload has the time at which the deliveries were made, that of a delivery the time of the signup.
      const made = async () =>
        observer.app
          .get(Database)
          .dataSource.query<{ webhook_id: unknown }[]>('SELECT webhook_id FROM delivery ORDER BY payload_id');
      const isOther = ({ webhook_id }: { webhook_id: unknown }) => Number(webhook_id) === otherWebhook;
      await until(async () => (await made()).some(isOther));
      expect((await made()).findIndex(isOther)).toBe(SIGNUPS * WEBHOOKS);
    });
  });

  it('finds the receivers of more webhooks than a statement has parameters', async () => {
    const woken = Array.from({ length: PARAMETERS_MAX + 1 }, (_, index) => index + 1);
    const receivers = await observer.app
      .get(Database)
      .one(observer.app.get(DueDeliveryStore).findReceivers([...woken, webhook.id]));
    expect(receivers.map(({ id }) => id)).toContain(webhook.id);
  });

  it('that stops while a receiver hangs gives its deliveries back at once, without counting an attempt', async () => {
    receiver.answer = () => undefined;
    await emit(1);
    const process = await start();
    await until(() => receiver.received.length === 1);

    process.signal('SIGTERM');

    expect(await process.exit).toBe(0);
    expect((await statuses()).filter(({ due }) => Number(due) === 1)).toHaveLength(1);
    const [row] = await observer.app
      .get(Database)
      .dataSource.query<{ attempts: unknown }[]>('SELECT SUM(attempts) AS attempts FROM delivery');
    expect(Number(row?.attempts)).toBe(0);
  });
});
