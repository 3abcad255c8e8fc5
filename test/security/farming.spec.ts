import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { WaiterDto } from '../../src/waiter/waiter.dto.js';
import type { Answer, Api } from '../support/api.js';
import { type Service, startService } from '../support/service.js';
import type { OwnedWaitlist, Person, World } from '../support/world.js';

/** The farmer's script makes as many referrals as one address did in three seconds with default limits. */
const FALSE_REFERRALS = 320;
/** People ahead of the farmer: more than all credits of an hour are worth. */
const AHEAD = 70;
const SPOTS = 3;
const NETWORK_CREDITS = 20;
const REFERRER_CREDITS = 60;
const SIGNUP = '/api/v1/signup';
/** The fields of an answer that differ from person to person. */
const PERSONAL_FIELDS = ['uuid', 'email', 'created_at', 'priority', 'referral_token', 'referral_link'];

let service: Service;
let api: Api;
let world: World;

beforeAll(async () => {
  // The network of a server that signs people up.
  service = await startService({ environment: { RATE_LIMIT_EXEMPT: '192.0.2.0/24' } });
  ({ api, world } = service);
});
afterAll(() => service.stop());

interface Farm {
  readonly waitlist: OwnedWaitlist;
  readonly farmer: Person;
}

async function farm(settings: object = {}, ahead = AHEAD): Promise<Farm> {
  const waitlist = await world.waitlist({ spots_to_move_upon_referral: SPOTS, ...settings });
  await times(ahead, () => world.signup(waitlist));
  return { waitlist, farmer: await world.signup(waitlist, { email: 'ada.lovelace@gmail.com' }) };
}

/** Signs an address up through the farmer's link. */
const refer = ({ waitlist, farmer }: Farm, email: string, from: string, fields: object = {}): Promise<Answer> =>
  api.post(SIGNUP, { waitlist_id: waitlist.id, email, referral_link: farmer.referral_link, ...fields }, { from });

const openedAt = (msAgo: number | undefined) =>
  msAgo === undefined ? {} : { form_opened_at: new Date(Date.now() - msAgo).toISOString() };

const times = <Result>(count: number, work: (index: number) => Promise<Result>): Promise<Result[]> =>
  Promise.all(Array.from({ length: count }, (_, index) => work(index)));

const shapeOf = ({ status, body, headers }: Answer) => ({
  status,
  type: headers['content-type'],
  fields: Object.keys(body as object),
  shared: Object.fromEntries(Object.entries(body as object).filter(([name]) => !PERSONAL_FIELDS.includes(name))),
});

/** The owner's list to decide on. */
async function withheld({ waitlist }: Farm): Promise<readonly WaiterDto[]> {
  const all: WaiterDto[] = [];
  for (;;) {
    const last = all.at(-1);
    const page = await world.list(waitlist, { credit: 'withheld', ...(last && { after_id: last.id }) });
    all.push(...page);
    if (page.length < 100) return all;
  }
}

const decide = ({ waitlist }: Farm, uuid: string, credit: 'credited' | 'refused'): Promise<Answer> =>
  api.patch(`${SIGNUP}/${uuid}`, { credit }, { token: waitlist.owner.token });

describe('a farmer', () => {
  it('gains nothing by addresses of their own mailbox, and every answer is the same as to an honest referral', async () => {
    const farmed = await farm();
    const { farmer } = farmed;
    const honest = shapeOf(await refer(farmed, 'grace@example.com', '198.51.100.1'));
    expect(await world.priorityOf(farmer)).toBe(AHEAD - SPOTS);

    const answers = await times(FALSE_REFERRALS, (index) =>
      // Each from a network of its own, so that only the mailbox tells.
      refer(farmed, `ada.lovelace+${index}@gmail.com`, `10.${index >> 8}.${index & 255}.1`),
    );

    for (const answer of answers) expect(shapeOf(answer)).toEqual(honest);
    expect(await world.priorityOf(farmer)).toBe(AHEAD - SPOTS);
    const list = await withheld(farmed);
    expect(list).toHaveLength(FALSE_REFERRALS);
    for (const { credit_reasons } of list) expect(credit_reasons).toContain('same_mailbox');
  });

  it('earns at most 20 credits an hour from one network, and every answer is the same', async () => {
    const farmed = await farm();
    const { farmer } = farmed;

    const answers = await times(FALSE_REFERRALS, (index) =>
      refer(farmed, `${randomUUID()}@example.com`, `203.0.113.${index & 255}`),
    );

    const [first, ...others] = answers.map(shapeOf);
    expect(first).toMatchObject({ status: 200, shared: { referred_by_signup_token: farmer.referral_token } });
    for (const other of others) expect(other).toEqual(first);
    expect(await world.priorityOf(farmer)).toBe(AHEAD - SPOTS * NETWORK_CREDITS);
    const list = await withheld(farmed);
    expect(list).toHaveLength(FALSE_REFERRALS - NETWORK_CREDITS);
    for (const { credit_reasons } of list) expect(credit_reasons).toContain('network_rate');
  });

  it('earns at most 20 credits an hour from one IPv6 site', async () => {
    const farmed = await farm();

    await times(30, (index) => refer(farmed, `${randomUUID()}@example.com`, `2001:db8:7:${index}::1`));

    expect(await world.priorityOf(farmed.farmer)).toBe(AHEAD - SPOTS * NETWORK_CREDITS);
  });

  it('earns at most 60 credits an hour from any number of networks', async () => {
    const farmed = await farm({ spots_to_move_upon_referral: 1 });

    await times(80, (index) => refer(farmed, `${randomUUID()}@example.com`, `10.1.${index}.1`));

    expect(await world.priorityOf(farmed.farmer)).toBe(AHEAD - REFERRER_CREDITS);
    const list = await withheld(farmed);
    expect(list.map(({ credit_reasons }) => credit_reasons)).toEqual(Array(20).fill(['referrer_rate']));
  });

  it.each([
    ['a throwaway mailbox', 'ada@inbox.mailinator.com', {}, 'disposable_domain'],
    ['a form sent sooner than a person types', 'ada@example.com', { openedMsAgo: 0, website: '' }, 'too_fast'],
    ['a field that people do not see', 'ada@example.com', { openedMsAgo: 5_000, website: 'x' }, 'honeypot'],
  ])('gains nothing by %s', async (_, email, { openedMsAgo, ...fields }: { openedMsAgo?: number }, reason) => {
    const farmed = await farm({}, SPOTS);

    const answer = await refer(farmed, email, '203.0.113.1', { ...fields, ...openedAt(openedMsAgo) });

    expect(answer.status).toBe(200);
    expect(await world.priorityOf(farmed.farmer)).toBe(SPOTS);
    expect((await withheld(farmed)).map(({ uuid, credit_reasons }) => [uuid, credit_reasons])).toEqual([
      [answer.body.uuid, [reason]],
    ]);
  });

  it.each([
    ['zero-width space', '\u200b'],
    ['zero-width non-joiner', '\u200c'],
    ['zero-width joiner', '\u200d'],
    ['word joiner', '\u2060'],
    ['zero-width no-break space', '\ufeff'],
  ])('cannot disguise an address with a %s: it is refused', async (_, character) => {
    const farmed = await farm({}, SPOTS);

    const answer = await refer(farmed, `ada${character}@example.com`, '203.0.113.1');

    expect(answer).toMatchObject({ status: 400, body: { errors: [{ field: 'email', rule: 'characters' }] } });
  });

  it('loses what the owner refuses, and keeps what the owner approves, until the owner refuses all', async () => {
    const farmed = await farm();
    const { waitlist, farmer } = farmed;
    await times(NETWORK_CREDITS + 2, () => refer(farmed, `${randomUUID()}@example.com`, '203.0.113.1'));
    const [one, other] = await withheld(farmed);

    expect(await decide(farmed, one!.uuid, 'credited')).toMatchObject({ status: 200, body: { credit: 'credited' } });
    expect(await world.priorityOf(farmer)).toBe(AHEAD - SPOTS * (NETWORK_CREDITS + 1));
    expect(await decide(farmed, other!.uuid, 'refused')).toMatchObject({ status: 200, body: { credit: 'refused' } });
    expect(await world.priorityOf(farmer)).toBe(AHEAD - SPOTS * (NETWORK_CREDITS + 1));

    const refusal = await api.post(
      `/api/v1/waitlist/${waitlist.id}/refuse_referrals`,
      { referral_token: farmer.referral_token },
      { token: waitlist.owner.token },
    );

    expect(refusal).toMatchObject({ status: 200, body: { refused: NETWORK_CREDITS + 1 } });
    expect(await world.priorityOf(farmer)).toBe(AHEAD);
    expect(await withheld(farmed)).toEqual([]);
  });
});

describe('an honest referral is credited', () => {
  it.each([
    ['from a form that was open for a while', { openedMsAgo: 30_000, website: '' }],
    ['from a form that was opened in the future, by a clock that is wrong', { openedMsAgo: -60_000 }],
    ['from a form that was opened days ago', { openedMsAgo: 90_000_000 }],
    ['from a program that means something else by `website`', { website: 'https://example.com' }],
    ['from a program that sends an object as `website`', { website: { url: 'https://example.com' } }],
  ])('%s', async (_, { openedMsAgo, ...fields }: { openedMsAgo?: number; website?: unknown }) => {
    const farmed = await farm({}, SPOTS);
    const form = { ...fields, ...openedAt(openedMsAgo) };

    expect((await refer(farmed, 'grace@example.com', '203.0.113.1', form)).status).toBe(200);

    expect(await world.priorityOf(farmed.farmer)).toBe(0);
  });

  it("from a server that signs people up, however many come from its network, up to the referrer's own rate", async () => {
    const farmed = await farm({ spots_to_move_upon_referral: 1 });

    await times(REFERRER_CREDITS, () => refer(farmed, `${randomUUID()}@example.com`, '192.0.2.7'));

    expect(await world.priorityOf(farmed.farmer)).toBe(AHEAD - REFERRER_CREDITS);
  });

  it('whatever rule it would break, if the owner has turned them off', async () => {
    const off = {
      disposable_domains: null,
      same_mailbox: null,
      referrals_per_hour: null,
      referrals_per_network_per_hour: null,
      minimum_seconds: null,
    };
    const farmed = await farm({ spots_to_move_upon_referral: 1, fraud: off });

    await times(AHEAD - 1, (index) => refer(farmed, `ada.lovelace+${index}@gmail.com`, '203.0.113.1'));
    await refer(farmed, 'ada@mailinator.com', '203.0.113.1', { form_opened_at: new Date().toISOString() });

    expect(await world.priorityOf(farmed.farmer)).toBe(0);
  });
});
