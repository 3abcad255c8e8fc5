import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { OpenAPIObject } from '@nestjs/swagger';
import type { Answer, Api, Method } from '../support/api.js';
import type { AccountKeyDto, CreatedAccountKeyDto } from '../../src/auth/account-key.dto.js';
import type { LoggedIn } from '../support/world.js';
import type { SessionDto } from '../../src/auth/session.dto.js';
import type { OfferedWaiterDto } from '../../src/waiter/offer.dto.js';
import type { WebhookWithSecretDto } from '../../src/webhook/webhook.dto.js';
import { type Service, startService } from '../support/service.js';
import type { Owner, OwnedWaitlist, Person } from '../support/world.js';

/** The ids and keys in a call: those of another owner, or unknown ones. */
interface Target {
  readonly waitlistId: number;
  readonly apiKey: string;
  readonly waiterId: number;
  readonly referralToken: string;
  readonly uuid: string;
  readonly keyId: number;
  readonly accountId: string;
  readonly memberId: string;
  readonly loginId: string;
  readonly webhookId: number;
  readonly offeredUuid: string;
  readonly offerCode: string;
}

type Call = (target: Target) => Promise<Answer>;

/** Stands for an account key in the calls. It is no token. */
const LIMITED = randomUUID();

const UNKNOWN: Target = {
  waitlistId: Number.MAX_SAFE_INTEGER,
  apiKey: 'f'.repeat(40),
  waiterId: Number.MAX_SAFE_INTEGER,
  referralToken: '000000000000',
  uuid: '00000000-0000-7000-8000-000000000000',
  keyId: Number.MAX_SAFE_INTEGER,
  accountId: '00000000-0000-7000-8000-000000000000',
  memberId: '00000000-0000-7000-8000-000000000000',
  loginId: '00000000-0000-7000-8000-000000000000',
  webhookId: Number.MAX_SAFE_INTEGER,
  offeredUuid: '00000000-0000-7000-8000-000000000000',
  offerCode: 'nobody-ever-got-this-code',
};

describe('the data of an owner', () => {
  let service: Service;
  let waitlist: OwnedWaitlist;
  let people: Person[];
  let stranger: Owner;
  let strangers: OwnedWaitlist;
  let victims: Target;
  let contract: OpenAPIObject;
  let key: CreatedAccountKeyDto;
  let webhook: WebhookWithSecretDto;
  let editor: LoggedIn;
  /** The strangers and their clients: another owner with a token and with a key, and a key of this owner's account. */
  let strangersOf: { readonly owner: Owner; readonly waitlist: OwnedWaitlist; readonly client: Api }[];
  beforeAll(async () => {
    service = await startService();
    const { world, api } = service;
    waitlist = await world.waitlist({ waitlist_name: 'Of the first owner', questions: [{ question_value: 'Why?' }] });
    const first = await world.signup(waitlist, {
      first_name: 'Ada',
      answers: [{ question_value: 'Why?', answer_value: 'So' }],
    });
    people = [
      first,
      await world.signup(waitlist, {
        referral_link: first.referral_link,
        answers: [{ question_value: 'Why?', answer_value: 'Too' }],
      }),
    ];
    const seat = await world.signup(waitlist, { answers: [{ question_value: 'Why?', answer_value: 'Three' }] });
    people.push(seat);
    const offers = `/api/v1/waitlist/${waitlist.id}/offer`;
    const offered = await api.post(offers, { signups: [{ uuid: seat.uuid }] }, { token: waitlist.owner.token });
    const offerCode = (offered.body as OfferedWaiterDto[])[0]!.offer_url!.split('/').at(-1)!;
    stranger = await world.owner();
    strangers = await world.waitlist({}, stranger);
    await world.signups(strangers, 3);
    const keyOf = async (name: string, { token }: Owner) =>
      (await api.post('/api/v1/api_key', { name, scope: 'manage' }, { token })).body as CreatedAccountKeyDto;
    key = await keyOf('Key of the first owner', waitlist.owner);
    const hooks = `/api/v1/waitlist/${waitlist.id}/webhook`;
    webhook = (await api.post(hooks, { url: 'https://93.184.215.14/hook' }, { token: waitlist.owner.token }))
      .body as WebhookWithSecretDto;
    editor = await world.member(waitlist.owner, 'editor');
    const strangersKey = await keyOf('Key of the stranger', stranger);
    const other = await world.waitlist({}, waitlist.owner);
    await world.signups(other, 3);
    const limits = { scope: 'manage', waitlist_ids: [other.id] };
    const limited = (await api.post('/api/v1/api_key', { name: 'Limited', ...limits }, { token: waitlist.owner.token }))
      .body as CreatedAccountKeyDto;
    strangersOf = [
      { owner: stranger, waitlist: strangers, client: api },
      {
        owner: stranger,
        waitlist: strangers,
        client: api.withAccountKeys(new Map([[stranger.token, strangersKey.key]])),
      },
      {
        owner: { ...waitlist.owner, token: LIMITED },
        waitlist: other,
        client: api.withAccountKeys(new Map([[LIMITED, limited.key]])),
      },
    ];
    victims = {
      waitlistId: waitlist.id,
      apiKey: waitlist.api_key,
      waiterId: await world.idOf(waitlist, first),
      referralToken: first.referral_token,
      uuid: first.uuid,
      keyId: key.id,
      accountId: waitlist.owner.uuid,
      memberId: editor.id,
      loginId: (await sessionsOf(waitlist.owner))[0]!.id,
      webhookId: webhook.id,
      offeredUuid: seat.uuid,
      offerCode,
    };
    contract = (await api.get('/openapi.json')).body as OpenAPIObject;
  });
  afterAll(() => service.stop());

  const twoFactor = (path: string, body: object): Readonly<Record<string, Call>> => ({
    'with the id of a member': ({ memberId }) =>
      service.api.post(`/api/v1/auth/two_factor${path}`, { member_id: memberId, ...body }, { token: stranger.token }),
  });

  /** Every way to name another owner's data, by operation. A new operation must be added here. */
  const CALLS: Readonly<Record<string, Readonly<Record<string, Call>>>> = {
    createWaitlist: {
      'with a key of its own choice': ({ apiKey }) =>
        service.api.post(
          '/api/v1/waitlist',
          { api_key: apiKey, waitlist_name: 'Mine', waitlist_url_location: 'https://example.com' },
          { token: stranger.token },
        ),
    },
    createAccountKey: {
      'with an id of its own choice': ({ keyId }) =>
        service.api.post('/api/v1/api_key', { id: keyId, name: 'Mine', scope: 'read' }, { token: stranger.token }),
    },
    linkSingleSignOn: {
      'with the id of a login': ({ loginId }) =>
        service.api.post('/api/v1/auth/sso/link', { login: loginId }, { token: stranger.token }),
    },
    changePassword: {
      'with the uuid of an account': ({ accountId }) =>
        service.api.post(
          '/api/v1/auth/password',
          {
            user_id: accountId,
            current_password: 'not the password at all',
            new_password: 'brisk otter plum canyon fizz',
          },
          { token: stranger.token },
        ),
    },
    getAccount: { 'of the caller': () => service.api.get('/api/v1/account', { token: stranger.token }) },
    updateAccount: {
      'with another id': ({ accountId }) =>
        service.api.patch('/api/v1/account', { id: accountId, name: 'Taken' }, { token: stranger.token }),
    },
    listMembers: {
      'in the list of all': () => service.api.get('/api/v1/member', { token: stranger.token }),
      'after a member of another account': ({ memberId }) =>
        service.api.get('/api/v1/member', { token: stranger.token, query: { after_id: memberId, limit: 1 } }),
    },
    getOwnMember: { 'of the caller': () => service.api.get('/api/v1/member/me', { token: stranger.token }) },
    updateOwnMember: {
      'with another id': ({ memberId }) =>
        service.api.patch('/api/v1/member/me', { id: memberId, name: 'Taken' }, { token: stranger.token }),
    },
    inviteMember: {
      'with an id of its own choice': ({ memberId: id }) =>
        service.api.post(
          '/api/v1/member',
          { id, email: `${randomUUID()}@members.example`, role: 'viewer' },
          { token: stranger.token },
        ),
    },
    inviteMemberAgain: {
      'by its id': ({ memberId }) =>
        service.api.post(`/api/v1/member/${memberId}/invitation`, undefined, { token: stranger.token }),
    },
    startPasswordReset: {
      'by its id': ({ memberId }) =>
        service.api.post(`/api/v1/member/${memberId}/password_reset`, undefined, { token: stranger.token }),
    },
    updateMember: {
      'by its id': ({ memberId }) =>
        service.api.patch(`/api/v1/member/${memberId}`, { role: 'viewer' }, { token: stranger.token }),
    },
    removeMember: {
      'by its id': ({ memberId }) => service.api.delete(`/api/v1/member/${memberId}`, { token: stranger.token }),
    },
    resetTwoFactor: {
      'by the id of a member': ({ memberId }) =>
        service.api.delete(`/api/v1/member/${memberId}/two_factor`, { token: stranger.token }),
    },
    setUpTwoFactor: twoFactor('', { current_password: 'not the password at all' }),
    confirmTwoFactor: twoFactor('/confirm', { otp: '123456' }),
    replaceRecoveryCodes: twoFactor('/recovery_codes', { otp: '123456' }),
    disableTwoFactor: twoFactor('/disable', { current_password: 'not the password at all', otp: '123456' }),
    listSessions: {
      'in the list of all': () => service.api.get('/api/v1/auth/session', { token: stranger.token }),
    },
    endSession: {
      'by its id': ({ loginId }) => service.api.delete(`/api/v1/auth/session/${loginId}`, { token: stranger.token }),
    },
    listAccountKeys: {
      'in the list of all': () => service.api.get('/api/v1/api_key', { token: stranger.token }),
    },
    revokeAccountKey: {
      'by its id': ({ keyId }) => service.api.delete(`/api/v1/api_key/${keyId}`, { token: stranger.token }),
    },
    listAuditEvents: {
      'of the waitlist': ({ waitlistId }) => audit({ waitlist_id: waitlistId }),
      'of a person': ({ uuid }) => audit({ uuid }),
      'of a member': ({ memberId }) => audit({ member: memberId }),
    },
    listWaitlists: {
      'in the list of all': () => service.api.get('/api/v1/waitlist', { token: stranger.token }),
    },
    getWaitlist: {
      'by its id': ({ waitlistId }) => service.api.get(`/api/v1/waitlist/${waitlistId}`, { token: stranger.token }),
    },
    updateWaitlist: {
      'with a name': ({ waitlistId }) => change(waitlistId, { waitlist_name: 'Taken' }),
      'with an order of the queue': ({ waitlistId }) => change(waitlistId, { spots_to_move_upon_referral: 100 }),
      'without changes': ({ waitlistId }) => change(waitlistId, {}),
    },
    deleteWaitlist: {
      'by its id': ({ waitlistId }) => service.api.delete(`/api/v1/waitlist/${waitlistId}`, { token: stranger.token }),
    },
    replaceApiKey: {
      'by its id': ({ waitlistId }) =>
        service.api.post(`/api/v1/waitlist/${waitlistId}/api_key`, undefined, { token: stranger.token }),
    },
    getStatistics: {
      'by its id': ({ waitlistId }) =>
        service.api.get(`/api/v1/waitlist/${waitlistId}/statistics`, { token: stranger.token }),
    },
    previewMail: {
      'by its id': ({ waitlistId }) =>
        service.api.get(`/api/v1/waitlist/${waitlistId}/mail_preview`, {
          token: stranger.token,
          query: { kind: 'welcome' },
        }),
    },
    sendTestMail: {
      'by its id': ({ waitlistId }) =>
        service.api.post(`/api/v1/waitlist/${waitlistId}/mail_test`, { kind: 'welcome' }, { token: stranger.token }),
    },
    previewReorder: {
      'by its id': ({ waitlistId }) =>
        service.api.get(`/api/v1/waitlist/${waitlistId}/reorder`, {
          token: stranger.token,
          query: { spots_to_move_upon_referral: 100 },
        }),
    },
    importWaiters: {
      'by the id of the waitlist': ({ waitlistId }) => importFile(waitlistId),
      'as a rehearsal': ({ waitlistId }) => importFile(waitlistId, { dry_run: true }),
    },
    getImport: {
      'by the id of the waitlist': ({ waitlistId }) =>
        service.api.get(`/api/v1/waitlist/${waitlistId}/import`, { token: stranger.token }),
    },
    exportWaitlist: {
      'by its id': ({ waitlistId }) =>
        service.api.get(`/api/v1/waitlist/${waitlistId}/export`, { token: stranger.token }),
    },
    createWebhook: {
      'by the id of the waitlist': ({ waitlistId }) =>
        ofWebhook('POST', waitlistId, '', { url: 'https://93.184.215.14/mine' }),
    },
    listWebhooks: { 'by the id of the waitlist': ({ waitlistId }) => ofWebhook('GET', waitlistId, '') },
    updateWebhook: everyWay('PATCH', '', { url: 'https://93.184.215.14/mine' }),
    deleteWebhook: everyWay('DELETE', ''),
    replaceWebhookSecret: everyWay('POST', '/secret'),
    testWebhook: everyWay('POST', '/test'),
    listDeliveries: everyWay('GET', '/delivery'),
    replayDeliveries: everyWay('POST', '/replay', { since: '2026-01-01T00:00:00Z' }),
    listWaiters: {
      'by the key': ({ apiKey }) => list({ api_key: apiKey }),
      'by the key in a header': ({ apiKey }) => list({}, { 'api-key': apiKey }),
      'by the id of the waitlist': ({ waitlistId }) => list({ waitlist_id: waitlistId }),
      'by an id beside the own key': ({ waitlistId }) => list({ api_key: strangers.api_key, waitlist_id: waitlistId }),
      'offboarded, by the key': ({ apiKey }) => list({ api_key: apiKey, offboarded_request: true }),
      'referred by a person of another waitlist': ({ referralToken }) =>
        list({ api_key: strangers.api_key, referral_token: referralToken }),
      'after a person of another waitlist': ({ waiterId }) => list({ api_key: strangers.api_key, after_id: waiterId }),
    },
    listSignups: {
      'by the id of the waitlist': ({ waitlistId }) => listSignups(waitlistId),
      'offboarded, by the id of the waitlist': ({ waitlistId }) =>
        listSignups(waitlistId, { offboarded_request: true }),
      'referred by a person of another waitlist': ({ referralToken }) =>
        listSignups(strangers.id, { referral_tokens: referralToken, include_referrer: true }),
      'after a person of another waitlist': ({ waiterId }) => listSignups(strangers.id, { after_id: waiterId }),
    },
    getWaiter: {
      'by its uuid': ({ uuid }) => service.api.get(`/api/v1/signup/${uuid}`, { token: stranger.token }),
    },
    updateWaiter: {
      'with a name': ({ uuid }) => correct(uuid, { first_name: 'Taken' }),
      'with another position': ({ uuid }) => correct(uuid, { spots_to_advance: 1 }),
      'with another credit': ({ uuid }) => correct(uuid, { credit: 'refused', verified: true }),
      'without changes': ({ uuid }) => correct(uuid, {}),
    },
    listReleases: {
      'by the id of the waitlist': ({ waitlistId }) =>
        service.api.get(`/api/v1/waitlist/${waitlistId}/release`, { token: stranger.token }),
    },
    runRelease: {
      'by the id of the waitlist': ({ waitlistId }) => release(waitlistId, {}),
      'in a dry run': ({ waitlistId }) => release(waitlistId, { dry_run: true }),
    },
    refuseReferrals: {
      'by the id of the waitlist': ({ waitlistId, referralToken }) => refuse(waitlistId, referralToken),
      'by the id of another waitlist': ({ referralToken }) => refuse(strangers.id, referralToken),
    },
    decideReferrals: {
      'by the id of the waitlist': ({ waitlistId, uuid }) => decide(waitlistId, uuid),
      'by the id of another waitlist': ({ uuid }) => decide(strangers.id, uuid),
    },
    makeOffers: {
      'to the first of the waitlist': ({ waitlistId }) => ofOffers(waitlistId, 'offer', { count: 1 }),
      'by the uuid of a person': ({ waitlistId, uuid }) => ofOffers(waitlistId, 'offer', { signups: [{ uuid }] }),
      'by the id of another waitlist': ({ uuid }) => ofOffers(strangers.id, 'offer', { signups: [{ uuid }] }),
      'as a rehearsal': ({ uuid }) => ofOffers(strangers.id, 'offer', { signups: [{ uuid }], dry_run: true }),
    },
    returnWaiters: {
      'by the id of the waitlist': ({ waitlistId, offeredUuid: uuid }) =>
        ofOffers(waitlistId, 'return', { signups: [{ uuid }] }),
      'by the id of another waitlist': ({ offeredUuid: uuid }) =>
        ofOffers(strangers.id, 'return', { signups: [{ uuid }] }),
    },
    checkOffer: { 'by its code': ({ offerCode: code }) => ofCode('check', code) },
    acceptOffer: { 'by its code': ({ offerCode: code }) => ofCode('accept', code) },
    renewOfferLink: {
      'by the uuid of its person': ({ offeredUuid }) =>
        service.api.post(`/api/v1/signup/${offeredUuid}/offer_link`, undefined, { token: stranger.token }),
    },
    offboardSignups: {
      'by the id of the waitlist': ({ waitlistId, uuid }) => signups('PATCH', waitlistId, uuid),
      'by the id of another waitlist': ({ uuid }) => signups('PATCH', strangers.id, uuid),
    },
    eraseSignups: {
      'by the id of the waitlist': ({ waitlistId, uuid }) => signups('DELETE', waitlistId, uuid),
      'by the id of another waitlist': ({ uuid }) => signups('DELETE', strangers.id, uuid),
    },
    offboardWaiters: {
      'by the key': ({ apiKey, waiterId }) => offboard({ api_key: apiKey }, waiterId),
      'by the id of the waitlist': ({ waitlistId, waiterId }) => offboard({ waitlist_id: waitlistId }, waiterId),
      'by the key of another waitlist': ({ waiterId }) => offboard({ api_key: strangers.api_key }, waiterId),
    },
  };

  function ofWebhook(method: Method, waitlistId: number, rest: string, body?: object) {
    return service.api.call(method, `/api/v1/waitlist/${waitlistId}/webhook${rest}`, body, { token: stranger.token });
  }
  function everyWay(method: Method, rest: string, body?: object): Readonly<Record<string, Call>> {
    return {
      'by the id of the waitlist': ({ waitlistId, webhookId }) =>
        ofWebhook(method, waitlistId, `/${webhookId}${rest}`, body),
      'by the id of another waitlist': ({ webhookId }) => ofWebhook(method, strangers.id, `/${webhookId}${rest}`, body),
    };
  }
  const ofOffers = (id: number, operation: 'offer' | 'return', body: object) =>
    service.api.post(`/api/v1/waitlist/${id}/${operation}`, body, { token: stranger.token });
  const ofCode = (operation: 'check' | 'accept', code: string) =>
    service.api.post(`/api/v1/offer/${operation}`, { code }, { token: stranger.token });
  const sessionsOf = async ({ token }: Owner) =>
    (await service.api.get('/api/v1/auth/session', { token })).body as SessionDto[];
  const signups = (method: 'PATCH' | 'DELETE', waitlist_id: number, uuid: string) => {
    const body = { waitlist_id, offboard_request: true, signups: [{ uuid }] };
    return service.api.call(method, '/api/v1/signup', body, { token: stranger.token });
  };
  const change = (waitlistId: number, body: object) =>
    service.api.patch(`/api/v1/waitlist/${waitlistId}`, body, { token: stranger.token });
  const listSignups = (id: number, query: Record<string, string | number | boolean> = {}) =>
    service.api.get(`/api/v1/signup/waitlist/${id}`, { token: stranger.token, query });
  const correct = (uuid: string, body: object) =>
    service.api.patch(`/api/v1/signup/${uuid}`, body, { token: stranger.token });
  const refuse = (id: number, referral_token: string) =>
    service.api.post(`/api/v1/waitlist/${id}/refuse_referrals`, { referral_token }, { token: stranger.token });
  const release = (id: number, body: object) =>
    service.api.post(`/api/v1/waitlist/${id}/release`, body, { token: stranger.token });
  const decide = (id: number, uuid: string) =>
    service.api.post(
      `/api/v1/waitlist/${id}/decide_referrals`,
      { credit: 'refused', signups: [{ uuid }] },
      { token: stranger.token },
    );
  const audit = (query: Record<string, string | number>) =>
    service.api.get('/api/v1/audit', { token: stranger.token, query });
  const importFile = (waitlistId: number, query = {}) =>
    service.api.post(`/api/v1/waitlist/${waitlistId}/import`, undefined, {
      token: stranger.token,
      raw: 'email\neve@example.com\n',
      headers: { 'content-type': 'text/csv' },
      query,
    });
  const list = (query: Record<string, string | number | boolean>, headers?: Record<string, string>) =>
    service.api.get('/api/v1/waiter', { token: stranger.token, query, headers });
  const offboard = (waitlistOf: { api_key: string } | { waitlist_id: number }, id: number) =>
    service.api.patch(
      '/api/v1/waiter',
      { ...waitlistOf, offboard_request: true, waiters: [{ id }] },
      { token: stranger.token },
    );

  /** Everything that the owner sees of the waitlist. */
  async function ownersView() {
    const { world, api } = service;
    return {
      sessions: await sessionsOf(waitlist.owner),
      account: (await api.get('/api/v1/account', { token: waitlist.owner.token })).body,
      members: (await api.get('/api/v1/member', { token: waitlist.owner.token })).body,
      keys: ((await api.get('/api/v1/api_key', { token: waitlist.owner.token })).body as AccountKeyDto[]).map(
        ({ id, scope, waitlist_ids }) => ({ id, scope, waitlist_ids }),
      ),
      waitlist: (await api.get(`/api/v1/waitlist/${waitlist.id}`, { token: waitlist.owner.token })).body,
      webhooks: (await api.get(`/api/v1/waitlist/${waitlist.id}/webhook`, { token: waitlist.owner.token })).body,
      active: await world.list(waitlist, { questions_request: true, order: 'queue' }),
      offered: await world.list(waitlist, { status: 'offered' }),
      offboarded: await world.list(waitlist, { offboarded_request: true }),
    };
  }

  /** An answer without the parts that differ from call to call or repeat the caller's input. */
  function visible({ status, text, headers }: Answer) {
    const body = text.replace(
      /"(instance|id|email|invitation_url|public_key|api_key|key|prefix|created_at|last_used_at)":("[^"]*"|\d+|null)/g,
      '"$1":…',
    );
    return { status, body, authenticate: headers['www-authenticate'], total: headers['x-total-count'] };
  }

  it('is requested here by every account operation', () => {
    const isOwners = ({ security = [] }: { security?: object[] }) =>
      security.some((scheme) => 'access_token' in scheme);
    const operations = Object.values(contract.paths)
      .flatMap((methods) => Object.values(methods as Record<string, { operationId: string; security?: object[] }>))
      .filter(isOwners)
      .map(({ operationId }) => operationId);

    expect(Object.keys(CALLS).sort()).toEqual(operations.sort());
  });

  const cases = Object.entries(CALLS).flatMap(([operation, ways]) =>
    Object.entries(ways).map(([way, call]) => [operation, way, call] as const),
  );

  it.each(cases)('is neither shown to nor changed by another owner: %s %s', async (_operation, _way, call) => {
    const before = await ownersView();
    const secrets = [
      ...people.flatMap(({ uuid, email, referral_token }) => [uuid, email, referral_token]),
      waitlist.waitlist_name,
      waitlist.api_key,
      waitlist.owner.email,
      editor.email,
      key.name,
      key.key,
      webhook.url,
      webhook.secret,
    ];

    const { api } = service;
    for (const { owner, waitlist: own, client } of strangersOf) {
      service = { ...service, api: client };
      [stranger, strangers] = [owner, own];
      const foreign = await call(victims);
      const unknown = await call(UNKNOWN);

      expect(foreign.status).toBeLessThan(500);
      expect(visible(foreign)).toEqual(visible(unknown));
      expect(secrets.filter((secret) => foreign.text.includes(secret))).toEqual([]);
    }
    service = { ...service, api };
    expect(await ownersView()).toEqual(before);
  });
});
