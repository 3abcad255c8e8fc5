import { randomUUID } from 'node:crypto';
import { createSocket } from 'node:dgram';
import { getServers, setServers } from 'node:dns/promises';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { DeliveryStore, webhookIdsFor } from '../../src/outbox/delivery.store.js';
import { OutboxSignal } from '../../src/outbox/outbox.signal.js';
import { OfferSweeper } from '../../src/queue/maintenance/offer-sweeper.js';
import type { EventName } from '../../src/outbox/webhook.entity.js';
import { Database } from '../../src/platform/database/database.js';
import { toSqlTime } from '../../src/platform/database/dialect.js';
import { write } from '../../src/platform/database/session.js';
import { Sweeper } from '../../src/platform/database/sweeper.js';
import { Metrics } from '../../src/platform/telemetry/metrics.js';
import type { OfferedWaiterDto } from '../../src/waiter/offer.dto.js';
import type { DeliveryDto, WebhookDto, WebhookWithSecretDto } from '../../src/webhook/webhook.dto.js';
import { DueDeliveryStore } from '../../src/webhook/due-delivery.store.js';
import { WEBHOOKS_MAX } from '../../src/webhook/webhook.service.js';
import type { Answer, CallOptions } from '../support/api.js';
import { ahead } from '../support/clock.js';
import { pressButton } from '../support/page.js';
import { answerWith, Receiver, verify } from '../support/receiver.js';
import { type Service, startService } from '../support/service.js';
import { freePort, until } from '../support/service-process.js';
import type { OwnedWaitlist } from '../support/world.js';

const DAY_MS = 24 * 3_600_000;
const PUBLIC_URL = 'https://93.184.215.14/hook';
const FORBIDDEN = { field: 'url', rule: 'public_address', message: 'must be an https URL of a public address' };

interface Hook extends WebhookWithSecretDto {
  readonly waitlist: OwnedWaitlist;
}

describe('a webhook', () => {
  let service: Service;
  const receivers: Receiver[] = [];
  beforeAll(async () => {
    // Its dispatcher and metrics work with the webhooks of all waitlists.
    service = await startService({ environment: { WEBHOOK_ALLOWED_NETWORKS: '127.0.0.1' }, isolated: true });
    service.startTasks();
  });
  afterEach(async () => {
    await Promise.all(receivers.splice(0).map((receiver) => receiver.stop()));
  });
  afterAll(() => service.stop());

  async function startReceiver(): Promise<Receiver> {
    const receiver = await Receiver.start();
    receivers.push(receiver);
    return receiver;
  }

  const pathOf = ({ waitlist, id }: Hook, rest = '') => `/api/v1/waitlist/${waitlist.id}/webhook/${id}${rest}`;
  const asOwner = ({ owner }: OwnedWaitlist, options: CallOptions = {}) => ({ token: owner.token, ...options });
  const create = (waitlist: OwnedWaitlist, body: object, options: CallOptions = {}) =>
    service.api.post(`/api/v1/waitlist/${waitlist.id}/webhook`, body, asOwner(waitlist, options));
  const post = (hook: Hook, rest: string, body?: object, options: CallOptions = {}) =>
    service.api.post(pathOf(hook, rest), body, asOwner(hook.waitlist, options));
  const patch = (hook: Hook, body: object) => service.api.patch(pathOf(hook), body, asOwner(hook.waitlist));
  const list = async (waitlist: OwnedWaitlist) =>
    (await service.api.get(`/api/v1/waitlist/${waitlist.id}/webhook`, asOwner(waitlist))).body as WebhookDto[];
  const refusal = ({ status, body }: Answer) => [status, (body as { error_code?: string }).error_code];

  async function hookTo(url: string, body: object = {}, waitlist?: OwnedWaitlist): Promise<Hook> {
    const own = waitlist ?? (await service.world.waitlist());
    const created = await create(own, { url, ...body });
    expect(created.status).toBe(201);
    return { ...(created.body as WebhookWithSecretDto), waitlist: own };
  }

  async function deliveries(hook: Hook): Promise<DeliveryDto[]> {
    return (await service.api.get(pathOf(hook, '/delivery'), asOwner(hook.waitlist))).body as DeliveryDto[];
  }

  const payloadsOf = async ({ id }: OwnedWaitlist) =>
    service.app.get(Database).dataSource.query<object[]>(`SELECT id FROM payload WHERE waitlist_id = ${id}`);

  const sql = (text: string, values: readonly unknown[]) => service.app.get(Database).one(write(text, values));

  const uuids = new Map<string, string>();
  function uuidOf(person: string): string {
    const uuid = uuids.get(person) ?? randomUUID();
    uuids.set(person, uuid);
    return uuid;
  }

  /** Stores events as a transaction of the queue does. The oldest comes first. */
  let number = 0;
  async function emit(hook: Hook, ...events: (readonly [person: string, event: EventName])[]): Promise<void> {
    const insertion = service.app.get(DeliveryStore).insert(
      hook.waitlist.id,
      events.map(([person, event]) => {
        number += 1;
        const webhookIds = webhookIdsFor([hook], event);
        const body = { event, signup: { uuid: person } };
        return { number, event, waiterUuid: uuidOf(person), body, at: new Date(), webhookIds };
      }),
    );
    await service.app.get(Database).one(insertion);
    service.app.get(OutboxSignal).wakeForDeliveries([hook.id]);
  }

  /** Makes pending deliveries due now. Not during an attempt: that would end its lease. */
  async function makeDue(hook: Hook): Promise<void> {
    const now = toSqlTime(new Date());
    await sql('UPDATE delivery SET next_attempt_at = ? WHERE webhook_id = ? AND next_attempt_at > ?', [
      now,
      hook.id,
      now,
    ]);
    service.app.get(OutboxSignal).wakeForDeliveries([hook.id]);
  }

  /** Waits until no attempt is under way: each delivery has ended this many attempts. */
  async function attempted(hook: Hook, attempts: number): Promise<DeliveryDto[]> {
    await until(async () => (await deliveries(hook)).every((delivery) => delivery.attempts >= attempts));
    return deliveries(hook);
  }

  // First, because the counters are those of all webhooks, and later tests leave retries.
  it('has metrics: attempts by outcome, pending deliveries and their delay', async () => {
    const receiver = await startReceiver();
    receiver.answer = answerWith(500);
    const hook = await hookTo(receiver.url);
    const { registry } = service.app.get(Metrics);
    const value = async (name: string, outcome?: string) => {
      const { values } = await registry.getSingleMetric(name)!.get();
      return values.find(({ labels }) => outcome === undefined || labels.outcome === outcome)?.value ?? 0;
    };
    const before = await value('waitlist_webhook_attempts_total', 'retried');

    await emit(hook, ['ada', 'new_signup']);
    await attempted(hook, 1);

    expect(await value('waitlist_webhook_attempts_total', 'retried')).toBe(before + 1);
    expect(await value('waitlist_webhook_pending_deliveries')).toBeGreaterThanOrEqual(1);
    expect(await value('waitlist_webhook_delay_seconds')).toBeLessThan(60);
  });

  it('shows its secret once, and is stored with the secret encrypted', async () => {
    const waitlist = await service.world.waitlist();

    const { status, body } = await create(waitlist, { url: PUBLIC_URL, events: ['new_signup'] });

    const { secret, ...webhook } = body as WebhookWithSecretDto;
    expect([status, webhook]).toEqual([
      201,
      {
        id: expect.any(Number),
        url: PUBLIC_URL,
        events: ['new_signup'],
        is_active: true,
        secret_available: true,
        created_at: expect.any(String),
      },
    ]);
    expect(Buffer.from(secret.slice('whsec_'.length), 'base64')).toHaveLength(32);
    expect(await list(waitlist)).toEqual([webhook]);
    const [row] = await service.app
      .get(Database)
      .dataSource.query<[object]>(`SELECT * FROM webhook WHERE id = ${webhook.id}`);
    expect(JSON.stringify(row)).not.toContain(secret.slice('whsec_'.length));
  });

  it('is created once by a repeat with the same Idempotency-Key, which shows the same secret', async () => {
    const waitlist = await service.world.waitlist();
    const options = { headers: { 'idempotency-key': randomUUID() } };

    const first = await create(waitlist, { url: PUBLIC_URL }, options);
    const again = await create(waitlist, { url: PUBLIC_URL }, options);

    expect([again.status, again.body, again.headers['idempotent-replayed']]).toEqual([201, first.body, 'true']);
    expect(await list(waitlist)).toHaveLength(1);
  });

  it('is refused with a URL that is not public, when it is created and when it is changed', async () => {
    const hook = await hookTo(PUBLIC_URL);

    for (const url of [
      'https://10.0.0.1/',
      'https://[::1]/',
      'http://8.8.8.8/',
      'https://0xa9fea9fe/',
      'https://localhost/',
    ]) {
      const answers = [await create(hook.waitlist, { url }), await patch(hook, { url })];
      for (const { status, body } of answers) expect([url, status, body.errors]).toEqual([url, 422, [FORBIDDEN]]);
    }
    expect((await create(hook.waitlist, { url: 'ftp://example.com/' })).status).toBe(400);
    expect((await list(hook.waitlist)).map(({ url }) => url)).toEqual([PUBLIC_URL]);
  });

  it('is refused with an unknown field or event, and beyond ten of a waitlist', async () => {
    const waitlist = await service.world.waitlist();
    for (let count = 0; count < WEBHOOKS_MAX; count += 1) await hookTo(PUBLIC_URL, {}, waitlist);

    const unknown = await create(waitlist, { url: PUBLIC_URL, event: 'new_signup', events: ['new_signups'] });

    expect([unknown.status, unknown.body.errors.map(({ field }: { field: string }) => field)]).toEqual([
      400,
      ['event', 'events[0]'],
    ]);
    expect(refusal(await create(waitlist, { url: PUBLIC_URL }))).toEqual([409, 'TOO_MANY_WEBHOOKS']);
  });

  it('can be changed by sending back the whole object', async () => {
    const hook = await hookTo(PUBLIC_URL);
    const { waitlist, secret, ...webhook } = hook;

    const changed = await patch(hook, { ...webhook, secret, url: `${PUBLIC_URL}/2`, events: ['erased_signup'] });
    const same = await patch(hook, {});

    const expected = { ...webhook, url: `${PUBLIC_URL}/2`, events: ['erased_signup'] };
    expect([changed.status, changed.body, same.body]).toEqual([200, expected, expected]);
    expect(await list(waitlist)).toEqual([expected]);
  });

  it('gets a test message that the reference library verifies, over the raw body', async () => {
    const receiver = await startReceiver();
    const hook = await hookTo(receiver.url);

    const { status, body } = await post(hook, '/test');
    await until(() => receiver.received.length === 1);

    const [received] = receiver.received;
    expect(status).toBe(202);
    expect(received!.id).toBe((body as DeliveryDto).id);
    expect(received!.headers).toMatchObject({ 'content-type': 'application/json' });
    expect(received!.body).toBe('{"event":"test","signup":{}}');
    expect(verify(received!, hook.secret)).toEqual({ event: 'test', signup: {} });
    expect(() => verify({ ...received!, body: `${received!.body} ` }, hook.secret)).toThrow();
    const [delivery] = await attempted(hook, 1);
    expect(delivery).toMatchObject({
      event: 'test',
      status: 'delivered',
      attempts: 1,
      last_status: 204,
      next_attempt_at: null,
    });
  });

  it('with a new secret is signed by both for a day', async () => {
    const receiver = await startReceiver();
    const hook = await hookTo(receiver.url);

    const replaced = await post(hook, '/secret');
    const { secret } = replaced.body as WebhookWithSecretDto;
    await post(hook, '/test');
    await attempted(hook, 1);
    await sql('UPDATE webhook SET old_secret_until = ? WHERE id = ?', [toSqlTime(new Date()), hook.id]);
    await post(hook, '/test');
    await attempted(hook, 1);

    const [first, second] = receiver.received;
    expect(replaced.status).toBe(200);
    expect(secret).not.toBe(hook.secret);
    for (const known of [hook.secret, secret]) expect(() => verify(first!, known)).not.toThrow();
    expect(() => verify(second!, secret)).not.toThrow();
    expect(() => verify(second!, hook.secret)).toThrow();
  });

  it('gets only the events that it subscribes to', async () => {
    const receiver = await startReceiver();
    const hook = await hookTo(receiver.url, { events: ['offboarded_signup'] });

    await emit(hook, ['ada', 'new_signup'], ['ada', 'offboarded_signup']);
    await attempted(hook, 1);

    expect(receiver.events).toEqual(['ada offboarded_signup']);
  });

  it('gets contact data with each offboarding, also of people who are erased at the same time', async () => {
    const receiver = await startReceiver();
    const hook = await hookTo(receiver.url, { events: ['offboarded_signup', 'erased_signup'] });
    const { waitlist } = hook;
    const people = await Promise.all(Array.from({ length: 20 }, () => service.world.signup(waitlist)));
    const ids = await Promise.all(people.map((person) => service.world.idOf(waitlist, person)));

    await Promise.all(
      people.flatMap(({ uuid }, index) => [
        service.world.offboard(waitlist, [ids[index] as number]),
        service.api.call(
          'DELETE',
          '/api/v1/signup',
          { waitlist_id: waitlist.id, signups: [{ uuid }] },
          asOwner(waitlist),
        ),
      ]),
    );
    const isOver = ({ event, status }: DeliveryDto) => event === 'erased_signup' || status !== 'pending';
    await until(async () => (await deliveries(hook)).every(isOver));

    // An erasure is told at once where an attempt about the person was under way, and has just ended.
    const offboardings = receiver.received.filter(({ event }) => event === 'offboarded_signup');
    for (const { signup } of offboardings) expect(signup).toHaveProperty('email');
  });

  it('gets the link of an offer while it is open, which no stored payload has', async () => {
    const receiver = await startReceiver();
    const hook = await hookTo(receiver.url, { events: ['offered_signup', 'offboarded_signup', 'returned_signup'] });
    const { waitlist } = hook;
    const [ada] = await service.world.signups(waitlist, 1);
    const path = `/api/v1/waitlist/${waitlist.id}`;
    const signups = [{ uuid: ada.uuid }];
    const makeOffer = async () => {
      const { body } = await service.api.post(`${path}/offer`, { signups }, asOwner(waitlist));
      return (body as OfferedWaiterDto[])[0]!.offer_url!;
    };
    const bodyOf = (index: number) => JSON.parse(receiver.received[index]!.body) as Record<string, unknown>;

    const link = await makeOffer();
    await until(() => receiver.received.length === 1);

    expect(bodyOf(0)).toMatchObject({
      event: 'offered_signup',
      signup: { uuid: ada.uuid, email: ada.email, status: 'offered', priority: 0, removed_priority: null },
      offer_url: link,
    });
    expect(() => verify(receiver.received[0]!, hook.secret)).not.toThrow();
    const bodies = await service.app
      .get(Database)
      .dataSource.query<{ body: string }[]>(`SELECT body FROM payload WHERE waitlist_id = ${waitlist.id}`);
    expect(bodies.map(({ body }) => body).join()).not.toContain(link.split('/').at(-1));

    const code = link.split('/').at(-1)!;
    expect((await service.api.post('/api/v1/offer/accept', { code }, asOwner(waitlist))).status).toBe(200);
    await service.api.post(`${path}/return`, { signups }, asOwner(waitlist));
    const newLink = await makeOffer();
    await until(() => receiver.received.length === 4);
    await attempted(hook, 1);

    expect(bodyOf(1)).toMatchObject({ event: 'offboarded_signup', signup: { removed_reason: 'accepted' } });
    expect(bodyOf(2)).toMatchObject({ event: 'returned_signup', signup: { status: 'waiting', removed_reason: null } });
    expect(bodyOf(3)).toMatchObject({ event: 'offered_signup', offer_url: newLink });
    const first = (await deliveries(hook)).at(-1)!;
    await post(hook, '/replay', { delivery_ids: [first.id] });
    await until(() => receiver.received.length === 5);
    expect(receiver.received[4]!.id).toBe(first.id);
    expect(bodyOf(4)).not.toHaveProperty('offer_url');
  });

  it('hears of an offer that was declined, and of one that expired', async () => {
    const receiver = await startReceiver();
    const waitlist = await service.world.waitlist({ offers: { hours: 1, on_expiry: 'end' } });
    await hookTo(receiver.url, { events: ['declined_offer', 'expired_offer'] }, waitlist);
    const [ada, ben] = await service.world.signups(waitlist, 2);
    const { body } = await service.api.post(`/api/v1/waitlist/${waitlist.id}/offer`, { count: 2 }, asOwner(waitlist));
    const [offered] = body as OfferedWaiterDto[];

    await pressButton(service.api, `${new URL(offered!.offer_url!).pathname}/decline`);
    await until(() => receiver.received.length === 1);
    await ahead(DAY_MS, async () => {
      await service.app.get(OfferSweeper).sweep();
      await until(() => receiver.received.length === 2);
    });

    expect(receiver.received.map(({ body: sent }) => JSON.parse(sent) as object)).toMatchObject([
      { event: 'declined_offer', signup: { uuid: ada.uuid, status: 'offboarded', removed_reason: 'declined' } },
      { event: 'expired_offer', signup: { uuid: ben!.uuid, status: 'waiting', removed_reason: null } },
    ]);
  });

  it('gets a failed message again with the same id and body, five seconds later at first, until it fails', async () => {
    const receiver = await startReceiver();
    receiver.answer = answerWith(500, { 'retry-after': '36000' });
    const hook = await hookTo(receiver.url);

    const sentMs = Date.now();
    await emit(hook, ['ada', 'new_signup']);
    const [first] = await attempted(hook, 1);
    const [row] = await service.app
      .get(Database)
      .dataSource.query<[{ next_attempt_at: string }]>(
        `SELECT CAST(next_attempt_at AS CHAR) AS next_attempt_at FROM delivery WHERE webhook_id = ${hook.id}`,
      );
    const delayMs = new Date(`${row.next_attempt_at.replace(' ', 'T')}Z`).getTime() - sentMs;
    for (let attempt = 2; attempt <= 8; attempt += 1) {
      await makeDue(hook);
      await attempted(hook, attempt);
    }
    await makeDue(hook);

    expect(first).toMatchObject({ status: 'pending', last_status: 500, last_failure: null });
    expect(delayMs).toBeGreaterThanOrEqual(4_000);
    expect(delayMs).toBeLessThan(60_000);
    expect(await deliveries(hook)).toMatchObject([{ status: 'failed', attempts: 8, next_attempt_at: null }]);
    expect(receiver.received).toHaveLength(8);
    expect(new Set(receiver.received.map(({ id, body }) => id + body)).size).toBe(1);
    for (const received of receiver.received) expect(() => verify(received, hook.secret)).not.toThrow();
  });

  it('gets the events of one record in their order, a later one once the earlier was delivered', async () => {
    const receiver = await startReceiver();
    const hook = await hookTo(receiver.url);
    receiver.answer = (received, ...rest) =>
      answerWith(received.signup.uuid === 'ada' && received.event === 'new_signup' ? 503 : 200)(received, ...rest);

    await emit(
      hook,
      ['ada', 'new_signup'],
      ['ada', 'verified_signup'],
      ['bob', 'new_signup'],
      ['ada', 'offboarded_signup'],
      ['bob', 'verified_signup'],
    );
    // All results are stored: `makeDue` would repeat an attempt under way.
    await until(async () => (await deliveries(hook)).filter(({ attempts }) => attempts === 1).length === 3);
    expect(receiver.events.filter((event) => event.startsWith('ada'))).toEqual(['ada new_signup']);

    receiver.answer = answerWith(200);
    await makeDue(hook);
    await attempted(hook, 1);

    const expected = ['ada new_signup', 'ada new_signup', 'ada verified_signup', 'ada offboarded_signup'];
    expect(receiver.events.filter((event) => event.startsWith('ada'))).toEqual(expected);
    expect(receiver.events.filter((event) => event.startsWith('bob'))).toEqual([
      'bob new_signup',
      'bob verified_signup',
    ]);
  });

  it('gets the next event of a record once the one before has failed', async () => {
    const receiver = await startReceiver();
    const hook = await hookTo(receiver.url);
    receiver.answer = (received, ...rest) => answerWith(received.event === 'new_signup' ? 500 : 200)(received, ...rest);
    await emit(hook, ['ada', 'new_signup'], ['ada', 'verified_signup']);
    await until(async () => (await deliveries(hook)).some(({ attempts }) => attempts === 1));
    await sql("UPDATE delivery SET attempts = 7 WHERE webhook_id = ? AND event = 'new_signup'", [hook.id]);

    await makeDue(hook);
    await until(async () => (await deliveries(hook))[0]?.status === 'delivered');

    expect(await deliveries(hook)).toMatchObject([
      { event: 'verified_signup', status: 'delivered' },
      { event: 'new_signup', status: 'failed' },
    ]);
  });

  it('that hangs delays no other webhook and no other record', async () => {
    const hanging = await startReceiver();
    hanging.answer = (received, ...rest) =>
      received.signup.uuid === 'hangs' ? undefined : answerWith(200)(received, ...rest);
    const other = await startReceiver();
    const waitlist = await service.world.waitlist();
    const [slow, fast] = [await hookTo(hanging.url, {}, waitlist), await hookTo(other.url, {}, waitlist)];
    const events = [
      ['hangs', 'new_signup'],
      ...Array.from({ length: 20 }, (_, index) => [`p${index}`, 'new_signup']),
    ] as [string, EventName][];

    await emit(slow, ...events);
    await emit(fast, ...events);
    await attempted(fast, 1);
    await until(() => hanging.received.length === events.length);

    const states = (await deliveries(slow)).filter(({ status }) => status !== 'delivered');
    await until(async () => (await deliveries(slow)).filter(({ status }) => status === 'delivered').length === 20);
    expect(states.some(({ attempts }) => attempts === 0)).toBe(true);
    // What it received is given back when the service stops.
    await sql('UPDATE webhook SET is_active = 0 WHERE id = ?', [slow.id]);
  });

  it('that answers slowly holds few slots afterwards, as one that fails', async () => {
    const [slow, other] = [await startReceiver(), await startReceiver()];
    slow.answer = (...call) => void setTimeout(() => answerWith(200)(...call), 2_100);
    const [slowHook, otherHook] = [await hookTo(slow.url), await hookTo(other.url)];
    await emit(slowHook, ['ada', 'new_signup']);
    await attempted(slowHook, 1);

    slow.answer = () => undefined;
    await emit(slowHook, ...Array.from({ length: 8 }, (_, index) => [`p${index}`, 'new_signup'] as const));
    await until(() => slow.received.length === 3);
    // A later pass over the webhooks.
    await emit(otherHook, ['bob', 'new_signup']);
    await attempted(otherHook, 1);

    expect(slow.received).toHaveLength(3);
    await sql('UPDATE webhook SET is_active = 0 WHERE id = ?', [slowHook.id]);
  });

  it('of an account with 300 new webhooks that hang delays no webhook of another account', async () => {
    const [hanging, other] = [await startReceiver(), await startReceiver()];
    hanging.answer = () => undefined;
    const [hook, otherHook] = [await hookTo(hanging.url), await hookTo(other.url)];
    for (let copy = 1; copy < 300; copy += 1)
      await sql(
        'INSERT INTO webhook (waitlist_id, url, events, is_active, sealed_secret, created_at) SELECT waitlist_id, url, events, is_active, sealed_secret, created_at FROM webhook WHERE id = ?',
        [hook.id],
      );
    const hooks = await service.app
      .get(Database)
      .dataSource.query<{ id: number }[]>(`SELECT id FROM webhook WHERE waitlist_id = ${hook.waitlist.id}`);
    await Promise.all(hooks.map(({ id }) => emit({ ...hook, id }, ['ada', 'new_signup'])));
    await until(() => hanging.received.length >= 50);

    await emit(otherHook, ['bob', 'new_signup']);
    await attempted(otherHook, 1);

    // Its share is 64 attempts, and 64 more after 10 s on a slow machine; a process has 256.
    expect(hanging.received.length).toBeLessThanOrEqual(128);
    await sql('UPDATE webhook SET is_active = 0 WHERE waitlist_id = ?', [hook.waitlist.id]);
  });

  it('tells why an attempt had no response, in its deliveries and once in the log, without the URL', async () => {
    const [resetting, hanging] = [await startReceiver(), await startReceiver()];
    resetting.answer = (_, __, request) => request.socket.destroy();
    hanging.answer = () => undefined;
    const noHttp = createServer((socket) => socket.on('error', () => undefined).end('220 mail.example\r\n\r\n'));
    noHttp.listen(0, '127.0.0.1');
    await once(noHttp, 'listening');
    const { port } = noHttp.address() as AddressInfo;
    const expected = {
      dns: 'https://nobody.invalid/hook',
      refused: `http://127.0.0.1:${await freePort()}/hook`,
      tls: `${hanging.url.replace('http', 'https')}?token=swordfish`,
      reset: resetting.url,
      protocol: `http://127.0.0.1:${port}/hook`,
      timeout: hanging.url,
    };

    const deliveriesOf = async (url: string) => {
      const hook = await hookTo(url);
      await post(hook, '/test');
      const tried = await attempted(hook, 1);
      expect(service.logged(`"webhookId":${hook.id},`)).toEqual([expect.stringContaining('a webhook fails')]);
      return tried;
    };
    // The deadline of an attempt survives garbage collection.
    setFlagsFromString('--expose-gc');
    const collecting = setInterval(runInNewContext('gc') as () => void, 1_000);
    const failures = (await Promise.all(Object.values(expected).map(deliveriesOf))).flat();
    clearInterval(collecting);
    noHttp.close();

    const reasons = Object.keys(expected).map((last_failure) => ({
      status: 'pending',
      last_status: null,
      last_failure,
    }));
    expect(failures).toMatchObject(reasons);
    expect(service.logged('swordfish')).toEqual([]);
  });

  it('does not follow redirects', async () => {
    const [receiver, target] = [await startReceiver(), await startReceiver()];
    receiver.answer = answerWith(307, { location: target.url });
    const hook = await hookTo(receiver.url);

    await post(hook, '/test');
    const [delivery] = await attempted(hook, 1);

    expect(delivery).toMatchObject({ status: 'pending', last_status: 307 });
    expect(target.received).toEqual([]);
  });

  it('counts only the status of the response: an endless body is cut off', async () => {
    const receiver = await startReceiver();
    receiver.answer = (_, response) => {
      response.writeHead(200);
      const more = () => {
        while (response.write('x'.repeat(64 * 1024)));
      };
      response.on('drain', more);
      more();
    };
    const hook = await hookTo(receiver.url);

    await post(hook, '/test');

    expect(await attempted(hook, 1)).toMatchObject([{ status: 'delivered', last_status: 200 }]);
  });

  it('keeps no connection for a body that comes slowly', async () => {
    const receiver = await startReceiver();
    let written = 0;
    let isClosed = false;
    receiver.answer = (_, response) => {
      response.writeHead(200);
      const timer = setInterval(() => response.write(String((written += 1))), 100);
      response.on('close', () => {
        clearInterval(timer);
        isClosed = true;
      });
    };
    const hook = await hookTo(receiver.url);

    await post(hook, '/test');
    await until(() => isClosed);

    expect(await attempted(hook, 1)).toMatchObject([{ status: 'delivered' }]);
    // One second of ten.
    expect(written).toBeLessThan(40);
  });

  it('that was turned off by its failures has an audit event, and gets nothing until it is turned on', async () => {
    const receiver = await startReceiver();
    receiver.answer = answerWith(410);
    const hook = await hookTo(receiver.url);
    await sql('UPDATE webhook SET failing_since = ? WHERE id = ?', [
      toSqlTime(new Date(Date.now() - 6 * DAY_MS)),
      hook.id,
    ]);
    await emit(hook, ['ada', 'new_signup']);
    await until(async () => !(await list(hook.waitlist))[0]!.is_active);
    receiver.answer = answerWith(200);

    expect(await deliveries(hook)).toMatchObject([{ status: 'pending', last_status: 410 }]);
    expect(refusal(await post(hook, '/test'))).toEqual([409, 'WEBHOOK_OFF']);
    expect(refusal(await post(hook, '/replay', { since: '2026-01-01T00:00:00Z' }))).toEqual([409, 'WEBHOOK_OFF']);
    expect(
      await service.app.get(Database).one(service.app.get(DeliveryStore).findSubscribers(hook.waitlist.id)),
    ).toEqual([]);
    const audit = await service.api.get('/api/v1/audit', {
      ...asOwner(hook.waitlist),
      query: { waitlist_id: hook.waitlist.id },
    });
    expect(audit.body[0]).toMatchObject({ action: 'webhook_turned_off', request_id: null });

    await patch(hook, { is_active: true });
    expect((await post(hook, '/test')).status).toBe(202);
    await until(async () => (await deliveries(hook))[0]?.status === 'delivered');
  });

  it('is turned off once it has failed for five days, and not while it answers', async () => {
    const receiver = await startReceiver();
    const hook = await hookTo(receiver.url);
    const failFor = (days: number) =>
      sql('UPDATE webhook SET failing_since = ? WHERE id = ?', [
        toSqlTime(new Date(Date.now() - days * DAY_MS)),
        hook.id,
      ]);
    const isOn = async () => (await list(hook.waitlist))[0]!.is_active;

    await failFor(6);
    await emit(hook, ['ada', 'new_signup']);
    await attempted(hook, 1);
    receiver.answer = answerWith(500);
    await emit(hook, ['bob', 'new_signup']);
    await attempted(hook, 1);
    expect(await isOn()).toBe(true);

    await failFor(4);
    await makeDue(hook);
    await until(() => receiver.received.length === 3);
    await until(async () => (await deliveries(hook))[0]!.attempts === 2);
    expect(await isOn()).toBe(true);

    await failFor(6);
    await makeDue(hook);
    await until(async () => !(await isOn()));
  });

  it('gets deliveries again that its owner replays: by id, or all since a moment', async () => {
    const receiver = await startReceiver();
    const hook = await hookTo(receiver.url);
    await emit(hook, ['ada', 'new_signup'], ['ada', 'verified_signup'], ['bob', 'new_signup']);
    const [bob, , ada] = await attempted(hook, 1);
    const first = receiver.received.find(({ id }) => id === ada!.id);
    await sql('UPDATE delivery SET created_at = ? WHERE id = ?', [toSqlTime(new Date(0)), ada!.id]);

    const named = await post(hook, '/replay', { delivery_ids: [ada!.id, randomUUID()] });
    await until(() => receiver.received.length === 4);
    await until(async () => (await deliveries(hook))[2]!.attempts === 2);
    const again = receiver.received[3]!;
    const since = await post(hook, '/replay', { since: new Date(Date.now() - 60_000).toISOString() });
    await until(() => receiver.received.length === 7);
    const later = await post(hook, '/replay', { since: '2999-01-01T00:00:00Z' });

    expect([named.status, named.body, since.body, later.body]).toEqual([
      202,
      { replayed: 1 },
      { replayed: 3 },
      { replayed: 0 },
    ]);
    expect([again.id, again.body]).toEqual([first!.id, first!.body]);
    expect(() => verify(again, hook.secret)).not.toThrow();
    const order = receiver.events.slice(4).filter((event) => event.startsWith('ada'));
    expect(order).toEqual(['ada new_signup', 'ada verified_signup']);
    expect(bob!.event).toBe('new_signup');
    expect((await post(hook, '/replay', {})).status).toBe(400);
    expect((await post(hook, '/replay', { since: '2026-01-01T00:00:00Z', delivery_ids: [ada!.id] })).status).toBe(400);
  });

  it('is replayed once by two requests with the same Idempotency-Key', async () => {
    const receiver = await startReceiver();
    const hook = await hookTo(receiver.url);
    await emit(hook, ['ada', 'new_signup']);
    await attempted(hook, 1);
    const options = { headers: { 'idempotency-key': randomUUID() } };
    const body = { since: '2026-01-01T00:00:00Z' };

    const answers = [await post(hook, '/replay', body, options), await post(hook, '/replay', body, options)];
    await attempted(hook, 2);

    expect(answers.map((answer) => answer.body)).toEqual([{ replayed: 1 }, { replayed: 1 }]);
    expect(receiver.received).toHaveLength(2);
  });

  it('lists its deliveries in pages, newest first', async () => {
    const receiver = await startReceiver();
    const hook = await hookTo(receiver.url);
    await emit(hook, ...Array.from({ length: 5 }, (_, index) => [`p${index}`, 'new_signup'] as const));
    const all = await attempted(hook, 1);

    const first = await service.api.get(pathOf(hook, '/delivery'), asOwner(hook.waitlist, { query: { limit: 3 } }));
    const [, next] = /<[^>]*(\/api[^>]*)>/.exec(String(first.headers.link)) ?? [];
    const second = await service.api.get(next!, asOwner(hook.waitlist));

    expect([...first.body, ...second.body]).toEqual(all);
    expect(second.headers.link).toBeUndefined();
  });

  it('that is deleted gets nothing more', async () => {
    const receiver = await startReceiver();
    receiver.answer = answerWith(500);
    const hook = await hookTo(receiver.url);
    await emit(hook, ['ada', 'new_signup']);
    await attempted(hook, 1);

    const { status } = await service.api.delete(pathOf(hook), asOwner(hook.waitlist));
    await makeDue(hook);
    const other = await hookTo(receiver.url, {}, hook.waitlist);
    await post(other, '/test');
    await until(() => receiver.events.includes('test'));

    expect(status).toBe(204);
    expect(receiver.events).toEqual(['ada new_signup', 'test']);
    expect(refusal(await service.api.delete(pathOf(hook), asOwner(hook.waitlist)))).toEqual([404, 'WEBHOOK_NOT_FOUND']);
  });

  it('of another waitlist of the same owner is not found', async () => {
    const hook = await hookTo(PUBLIC_URL);
    const other = { ...hook, waitlist: await service.world.waitlist({}, hook.waitlist.owner) };

    for (const answer of [await patch(other, {}), await post(other, '/test'), await post(other, '/secret')])
      expect(refusal(answer)).toEqual([404, 'WEBHOOK_NOT_FOUND']);
  });

  it('loses the payloads of its deliveries after 7 days, which fails those that are pending, and the rest after 30', async () => {
    const receiver = await startReceiver();
    receiver.answer = answerWith(500);
    const hook = await hookTo(receiver.url);
    await emit(hook, ['ada', 'new_signup']);
    await attempted(hook, 1);
    const sweep = async () => {
      const past = toSqlTime(new Date(Date.now() - 1));
      await sql('UPDATE delivery SET expires_at = ? WHERE webhook_id = ?', [past, hook.id]);
      await sql('UPDATE payload SET expires_at = ? WHERE waitlist_id = ?', [past, hook.waitlist.id]);
      await service.app.get(Sweeper).sweepAll();
    };

    await sweep();
    const [row] = await service.app
      .get(Database)
      .dataSource.query<[{ kept: string }]>(
        `SELECT CAST(expires_at AS CHAR) AS kept FROM delivery WHERE webhook_id = ${hook.id}`,
      );
    const replayed = await post(hook, '/replay', { since: '2026-01-01T00:00:00Z' });

    expect(await payloadsOf(hook.waitlist)).toEqual([]);
    expect(new Date(`${row.kept.replace(' ', 'T')}Z`).getTime()).toBeGreaterThan(Date.now() + 22 * DAY_MS);
    expect(await deliveries(hook)).toMatchObject([{ status: 'failed', next_attempt_at: null }]);
    expect(replayed.body).toEqual({ replayed: 0 });

    await sweep();
    expect(await deliveries(hook)).toEqual([]);
  });

  it('of ten tells each of a batch of offboardings with large records, whose payloads are stored once', async () => {
    const waitlist = await service.world.waitlist();
    const people = await Promise.all(Array.from({ length: 300 }, () => service.world.signup(waitlist)));
    await sql('UPDATE waiter SET metadata = ? WHERE waitlist_id = ?', [
      JSON.stringify({ a: 'x'.repeat(16_000) }),
      waitlist.id,
    ]);
    for (let count = 0; count < WEBHOOKS_MAX; count += 1) await hookTo(PUBLIC_URL, {}, waitlist);
    // They keep what they would send.
    await sql("UPDATE webhook SET sealed_secret = 'lostlost.AAAA' WHERE waitlist_id = ?", [waitlist.id]);

    const { status } = await service.api.patch(
      '/api/v1/waiter',
      { api_key: waitlist.api_key, offboard_request: true, offboard_next: people.length },
      asOwner(waitlist),
    );

    const [row] = await service.app
      .get(Database)
      .dataSource.query<[{ amount: unknown }]>(
        `SELECT COUNT(*) AS amount FROM delivery WHERE waitlist_id = ${waitlist.id}`,
      );
    expect([status, Number(row.amount)]).toEqual([200, people.length * WEBHOOKS_MAX]);
    expect(await payloadsOf(waitlist)).toHaveLength(people.length);
    await sql('UPDATE webhook SET is_active = 0 WHERE waitlist_id = ?', [waitlist.id]);
  });

  it('sends nothing while its secret cannot be decrypted, shows secret_available: false, and continues with a new secret', async () => {
    const receiver = await startReceiver();
    const hook = await hookTo(receiver.url);
    await sql('UPDATE webhook SET sealed_secret = ? WHERE id = ?', ['lostlost.AAAA', hook.id]);

    await emit(hook, ['ada', 'new_signup']);
    expect(await list(hook.waitlist)).toMatchObject([{ id: hook.id, secret_available: false }]);
    const other = await hookTo(receiver.url, {}, hook.waitlist);
    await post(other, '/test');
    await until(() => receiver.received.length === 1);
    expect(receiver.events).toEqual(['test']);

    const { secret } = (await post(hook, '/secret')).body as WebhookWithSecretDto;
    await until(() => receiver.received.length === 2);
    expect(() => verify(receiver.received[1]!, secret)).not.toThrow();
  });

  // The embedded database has no deadlines: its driver blocks the process.
  (process.env.TEST_DATABASE_URL ? it : it.skip)('keeps no scrape waiting as long as a request', async () => {
    const database = service.app.get(Database);
    const lock = database.dataSource.createQueryRunner();
    await lock.query('LOCK TABLES delivery WRITE');
    try {
      const request = database.one(service.app.get(DueDeliveryStore).countPending()).catch(() => 'request');
      const scrape = service.app.get(Metrics).registry.metrics();
      expect(await Promise.race([scrape, request])).toContain('process_cpu_seconds_total');
      expect(await scrape).not.toMatch(/^waitlist_webhook_(pending_deliveries|delay_seconds) /m);
      await request;
    } finally {
      await lock.query('UNLOCK TABLES');
      await lock.release();
    }
  });

  describe('with a host name', () => {
    it('is not called if the name later leads to a forbidden address', async () => {
      let connections = 0;
      const inside = createServer(() => (connections += 1)).listen(0, '0.0.0.0');
      await once(inside, 'listening');
      const { port } = inside.address() as AddressInfo;
      const names = await NameServer.start('93.184.215.14');
      const servers = getServers();
      setServers([`127.0.0.1:${names.port}`]);
      try {
        const url = `https://rebinding.example:${port}/hook`;
        const hook = await hookTo(url);
        // WEBHOOK_ALLOWED_NETWORKS does not name it.
        names.address = '127.0.0.2';
        await post(hook, '/test');
        expect(await attempted(hook, 1)).toMatchObject([
          { status: 'pending', last_status: null, last_failure: 'blocked' },
        ]);
        const refused = await create(hook.waitlist, { url });
        expect([refused.status, refused.body.errors, connections]).toEqual([422, [FORBIDDEN], 0]);
      } finally {
        setServers(servers);
        await names.stop();
        inside.close();
      }
    });

    it('is called at the address that was checked, whatever the DNS answers next', async () => {
      const receiver = await startReceiver();
      const names = await NameServer.start('127.0.0.1');
      const servers = getServers();
      setServers([`127.0.0.1:${names.port}`]);
      try {
        const hook = await hookTo(`http://pinned.example:${receiver.port}/hook`);
        // Each answer is another one: a second question would lead elsewhere.
        names.answered = () => (names.address = names.address === '127.0.0.1' ? '10.0.0.1' : '127.0.0.1');
        await post(hook, '/test');
        await until(() => receiver.received.length === 1);
        expect(receiver.received[0]!.headers.host).toBe(`pinned.example:${receiver.port}`);
      } finally {
        setServers(servers);
        await names.stop();
      }
    });
  });
});

/** A name server that answers each question for an IPv4 address with `address`, and has no other records. */
class NameServer {
  answered: () => void = () => undefined;

  private constructor(
    public address: string,
    private readonly socket: ReturnType<typeof createSocket>,
  ) {}

  static async start(address: string): Promise<NameServer> {
    const socket = createSocket('udp4');
    const server = new NameServer(address, socket);
    socket.on('message', (question, { port, address: from }) => socket.send(server.answerTo(question), port, from));
    socket.bind(0, '127.0.0.1');
    await once(socket, 'listening');
    return server;
  }

  get port(): number {
    return this.socket.address().port;
  }

  async stop(): Promise<void> {
    await once(this.socket.close(), 'close');
  }

  /** RFC 1035: the question is repeated, and the answer points to its name. */
  private answerTo(question: Buffer): Buffer {
    const end = question.indexOf(0, 12) + 5;
    const isIpv4 = question.readUInt16BE(end - 4) === 1;
    const header = Buffer.from(question.subarray(0, 12));
    header.writeUInt16BE(0x8180, 2);
    header.writeUInt16BE(isIpv4 ? 1 : 0, 6);
    header.writeUInt32BE(0, 8);
    const record = Buffer.from([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 0, 0, 4, ...this.address.split('.').map(Number)]);
    if (isIpv4) this.answered();
    return Buffer.concat([header, question.subarray(12, end), ...(isIpv4 ? [record] : [])]);
  }
}
