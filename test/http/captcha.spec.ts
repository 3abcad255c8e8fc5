import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import type { Answer, Api } from '../support/api.js';
import { SERVER_BOUNDS } from '../../src/platform/limits/server-bounds.js';
import { SealedColumns } from '../../src/platform/secrets/sealed-columns.js';
import { CAPTCHA_SECRET, CaptchaProviderStandIn } from '../support/captcha-provider.js';
import { openDatabase } from '../support/database.js';
import { type Service, startService } from '../support/service.js';
import type { World } from '../support/world.js';

const SIGNUP = '/api/v1/signup';
const [OLD, NEW] = ['an-old-secret-that-signs-tokens-in-tests', 'a-new-secret-that-signs-tokens-in-tests'];
const CAPTCHA = { provider: 'turnstile', site_key: 'site-key', secret: CAPTCHA_SECRET } as const;

let provider: CaptchaProviderStandIn;
let service: Service;
let api: Api;
let world: World;

beforeAll(async () => {
  provider = await CaptchaProviderStandIn.start();
  // With the deadline of a request, to which the time of the provider is added.
  const bounds = { ...SERVER_BOUNDS, loopDelayMs: 0 };
  service = await startService({ environment: { CAPTCHA_VERIFY_URL: provider.url }, bounds });
  ({ api, world } = service);
});
afterAll(async () => {
  await service.stop();
  await provider.stop();
});

const goodToken = () => `good-${randomUUID()}`;
const join = (waitlist: { readonly id: number }, fields: object): Promise<Answer> =>
  api.post(SIGNUP, { waitlist_id: waitlist.id, email: `${randomUUID()}@example.com`, ...fields });
const REFUSED = {
  status: 422,
  body: { error_code: 'WAITLIST_RULE_BROKEN', errors: [{ field: 'captcha_token', rule: 'required' }] },
};

describe('a signup on a waitlist with a captcha', () => {
  it('is accepted with a token that the provider accepts, once, and the provider learns nothing of the person', async () => {
    const waitlist = await world.waitlist({ captcha: CAPTCHA });
    const token = goodToken();

    expect(await join(waitlist, { captcha_token: token })).toMatchObject({ status: 200 });
    expect(await join(waitlist, { captcha_token: token })).toMatchObject(REFUSED);
    expect(provider.asked.filter(({ response }) => response === token)).toEqual([
      { secret: CAPTCHA_SECRET, response: token },
      { secret: CAPTCHA_SECRET, response: token },
    ]);
  });

  it('is verified with the site key of hCaptcha, whose secret serves several', async () => {
    const waitlist = await world.waitlist({ captcha: { ...CAPTCHA, provider: 'hcaptcha' } });
    const token = goodToken();

    expect(await join(waitlist, { captcha_token: token })).toMatchObject({ status: 200 });
    expect(provider.asked.at(-1)).toEqual({ secret: CAPTCHA_SECRET, response: token, sitekey: 'site-key' });
  });

  it.each(['captcha_token', 'cf-turnstile-response', 'h-captcha-response'])(
    'may send its token as %s: in JSON, in a form, and by the earlier generations of the API',
    async (field) => {
      const waitlist = await world.waitlist({ captcha: CAPTCHA });
      const person = () => ({ email: `${randomUUID()}@example.com`, [field]: goodToken() });
      const form = new URLSearchParams({ waitlist_id: String(waitlist.id), ...person(), website: '' });

      const answers = [
        await join(waitlist, person()),
        await api.post(SIGNUP, undefined, {
          raw: form.toString(),
          headers: { 'content-type': 'application/x-www-form-urlencoded' },
        }),
        await api.post('/api/v1/waiter', { waitlist_id: waitlist.id, ...person() }),
        await api.post('/api/v1/waitlists/submit', { api_key: waitlist.public_key, ...person() }),
      ];

      expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    },
  );

  it('is refused without a valid token, with the same answer for known and unknown people', async () => {
    const waitlist = await world.waitlist({
      captcha: CAPTCHA,
      questions: [{ question_value: 'Why?', optional: false }],
    });
    const known = { email: 'known@example.com', answers: [{ question_value: 'Why?', answer_value: 'Why not' }] };
    expect(await join(waitlist, { ...known, captcha_token: goodToken() })).toMatchObject({ status: 200 });

    const refusals = [
      await join(waitlist, known),
      await join(waitlist, { ...known, email: 'unknown@example.com' }),
      await join(waitlist, { ...known, captcha_token: ' ' }),
      await join(waitlist, { ...known, captcha_token: 'bad' }),
      await join(waitlist, { ...known, captcha_token: 'odd-' }),
      await join(waitlist, { ...known, captcha_token: 'unreadable-' }),
      await api.post('/api/v1/waiter', { ...known, waitlist_id: waitlist.id }),
    ];

    for (const refusal of refusals) expect(refusal).toMatchObject(REFUSED);
    const [first, ...others] = refusals.map(({ body }) => ({ ...body, instance: '' }));
    for (const other of others) expect(other).toEqual(first);
  });

  it('is refused with all broken rules, not only that of the token', async () => {
    const questions = [{ question_value: 'Why?', optional: false }];
    const { body } = await join(await world.waitlist({ captcha: CAPTCHA, questions }), {});

    expect(body.errors.map(({ field }: { field: string }) => field)).toEqual(['captcha_token', 'answers']);
  });

  it('needs a token as soon as the owner turns the captcha on, and none once it is off', async () => {
    const waitlist = await world.waitlist();
    expect(await join(waitlist, {})).toMatchObject({ status: 200 });

    await api.patch(`/api/v1/waitlist/${waitlist.id}`, { captcha: CAPTCHA }, { token: waitlist.owner.token });
    expect(await join(waitlist, {})).toMatchObject(REFUSED);

    await api.patch(`/api/v1/waitlist/${waitlist.id}`, { captcha: null }, { token: waitlist.owner.token });
    expect(await join(waitlist, {})).toMatchObject({ status: 200 });
  });

  it('has its token ignored if the waitlist has no captcha', async () => {
    const waitlist = await world.waitlist();
    const token = goodToken();

    expect(await join(waitlist, { captcha_token: token })).toMatchObject({ status: 200 });
    expect(provider.asked.filter(({ response }) => response === token)).toEqual([]);
  });
});

describe('a token that the provider does not judge', () => {
  afterEach(() => {
    provider.mood = 'well';
  });

  /** For each choice of the owner: what a referred signup gets, and how it is credited. */
  async function outcomes(mood: typeof provider.mood, settings: object = {}) {
    const choices = ['withhold', 'accept'] as const;
    const prepared = choices.map(async (when_unavailable) => {
      const waitlist = await world.waitlist();
      const { referral_link } = await world.signup(waitlist);
      const captcha = { ...CAPTCHA, when_unavailable, ...settings };
      await api.patch(`/api/v1/waitlist/${waitlist.id}`, { captcha }, { token: waitlist.owner.token });
      return { waitlist, referral_link };
    });
    const lists = await Promise.all(prepared);
    provider.mood = mood;
    return Promise.all(
      lists.map(async ({ waitlist, referral_link }) => {
        const { status, body } = await join(waitlist, { captcha_token: goodToken(), referral_link });
        const [waiter] = await world.list(waitlist, { uuid: body.uuid });
        return { status, credit: waiter!.credit, reasons: waiter!.credit_reasons };
      }),
    );
  }
  const AS_CHOSEN = [
    { status: 200, credit: 'withheld', reasons: ['captcha'] },
    { status: 200, credit: 'credited', reasons: [] },
  ];

  it.each([
    ['an internal error', 'failed'],
    ['a 500', 'broken'],
    ['no JSON', 'garbled'],
    ['a redirect', 'elsewhere'],
  ] as const)('admits the person, and credits as the owner chose: %s', async (_, mood) => {
    expect(await outcomes(mood)).toEqual(AS_CHOSEN);
  });

  it('does so after five seconds if the provider hangs, and still nobody joins without a token', async () => {
    const refused = join(await world.waitlist({ captcha: CAPTCHA }), {});

    expect(await outcomes('silent')).toEqual(AS_CHOSEN);
    expect(await refused).toMatchObject(REFUSED);
  });

  it('does so if the secret of the owner is wrong', async () => {
    expect(await outcomes('well', { secret: 'another' })).toEqual(AS_CHOSEN);
  });

  it('does so if no JWT_SECRET of this process can decrypt the secret', async () => {
    const database = await openDatabase(true);
    const start = (secrets: string) =>
      startService({
        environment: { DATABASE_URL: database.url, JWT_SECRET: secrets, CAPTCHA_VERIFY_URL: provider.url },
      });
    const before = await start(OLD);
    const waitlist = await before.world.waitlist({ captcha: CAPTCHA });
    await before.stop();
    const joinAt = ({ api: at }: Service) => {
      const body = { waitlist_id: waitlist.id, email: `${randomUUID()}@example.com`, captcha_token: 'bad' };
      return at.post(SIGNUP, body);
    };

    const without = await start(NEW);
    expect(await joinAt(without)).toMatchObject({ status: 200 });
    expect(await without.app.get(SealedColumns).reseal()).toBe(1);
    await without.stop();
    const between = await start(`${NEW},${OLD}`);
    expect(await between.app.get(SealedColumns).reseal()).toBe(0);
    await between.stop();
    const after = await start(NEW);
    expect(await joinAt(after)).toMatchObject(REFUSED);
    await after.stop();
    await database.drop();
  });
});
