/** The tour (docs/tour.md) through the generated client, on a first start: `tour.ts URL EMAIL PASSWORD API_KEY`. */
import assert from 'node:assert/strict';
import { Configuration, SignupApi } from '@example/waitlist-client';
import { AccountKeyApi, AuthApi, type ListWaitersRequest, WaiterApi, WaitlistApi } from '@example/waitlist-client';
import { MemberApi, OfferApi } from '@example/waitlist-client';
import { AccountKeyFromJSON, WaiterFromJSON } from '@example/waitlist-client';
import { type Problem, ProblemFromJSON, ResponseError } from '@example/waitlist-client';

const [basePath = '', email = '', password = '', api_key = ''] = process.argv.slice(2);

async function problemOf(call: Promise<unknown>): Promise<Problem> {
  const error = await call.then(
    () => assert.fail('This call should have failed'),
    (reason: unknown) => reason,
  );
  assert(error instanceof ResponseError);
  const problem = ProblemFromJSON(await error.response.json());
  assert.equal(problem.status, error.response.status);
  return problem;
}

// Sign up
const signups = new SignupApi(new Configuration({ basePath }));
for (const name of ['grace', 'edsger'])
  await signups.createSignup({ CreateSignup: { waitlist_id: 1, email: `${name}@example.com` } });
const ada = await signups.createSignup({ CreateSignup: { waitlist_id: 1, email: 'ada@example.com' } });
console.log(ada.priority, ada.referral_link);
assert.equal(ada.priority, 2);

// Refer, look up
const { referral_link } = ada;
const bob = await signups.createSignup({ CreateSignup: { waitlist_id: 1, email: 'bob@example.com', referral_link } });
assert.equal(bob.referred_by_signup_token, ada.referral_token);
const found = await signups.getSignup({ waitlist_id: 1, email: 'ada@example.com' });
assert.deepEqual([found.uuid, found.priority, found.amount_referred], [ada.uuid, 0, 1]);

// Log in, refresh
const missing = await problemOf(new WaiterApi(new Configuration({ basePath })).listWaiters({ api_key }));
assert.deepEqual([missing.status, missing.error_code], [401, 'MISSING_TOKEN']);
const tokens = await new AuthApi(new Configuration({ basePath })).createTokens({ CreateTokens: { email, password } });
const refresh = new AuthApi(new Configuration({ basePath, accessToken: tokens.refresh_token }));
const { access_token: accessToken } = await refresh.refreshAccessToken();

// List
const waiters = new WaiterApi(new Configuration({ basePath, accessToken }));
const emails = async (filters: ListWaitersRequest) =>
  (await waiters.listWaiters({ api_key, ...filters })).map((waiter) => waiter.email);
const line = await waiters.listWaiters({ api_key, order: 'queue' });
const [first] = line;
assert(first);
assert.deepEqual(
  line.map((waiter) => waiter.email),
  ['ada', 'grace', 'edsger', 'bob'].map((name) => `${name}@example.com`),
);
assert.equal(first.total_waiters_currently, 4);
assert.deepEqual(await emails({ limit: 1 }), ['grace@example.com']);
assert.deepEqual(await emails({ offset: 1, limit: 1 }), ['edsger@example.com']);
assert.deepEqual(await emails({ after_id: first.id }), ['bob@example.com']);
assert.deepEqual(await emails({ referral_token: ada.referral_token }), ['bob@example.com']);
assert.deepEqual(await emails({ referral_token: 'true' }), ['bob@example.com']);
assert.equal((await waiters.listWaiters({ api_key, questions_request: true }))[0]?.question_1, '');
assert.deepEqual(await emails({ offboarded_request: true }), []);

// Offboard
const turn = { api_key, offboard_request: true, waiters: [{ id: first.id }] };
const gone = await waiters.offboardWaiters({ OffboardWaiters: turn });
assert.deepEqual(
  gone.map((waiter) => [waiter.uuid, waiter.removed_priority, waiter.removed_from_waitlist]),
  [[ada.uuid, 0, true]],
);
assert.deepEqual(await waiters.listWaiters({ api_key, offboarded_request: true }), gone);

// Find
assert.deepEqual(await emails({ search: 'ED' }), ['edsger@example.com']);
const [left] = await waiters.listWaiters({ waitlist_id: 1, email: 'ada@example.com', offboarded_request: true });
assert.deepEqual([left?.id, left?.status, left?.waitlist_api_key], [first.id, 'offboarded', null]);

// Offer a seat, explain a place, accept, return
const offers = new OfferApi(new Configuration({ basePath, accessToken }));
const [offered] = await offers.makeOffers({ waitlist_id: 1, MakeOffers: { count: 1, hours: 48 } });
assert(offered?.offer_url);
assert.deepEqual([offered.email, offered.status, offered.priority], ['grace@example.com', 'offered', 0]);
const code = offered.offer_url.split('/').at(-1) ?? '';
assert.equal((await offers.checkOffer({ OfferCode: { code } })).state, 'open');
const place = await signups.getPlace({ waitlist_id: 1, uuid: bob.uuid });
assert.deepEqual([place.priority, place.joined_priority, place.referrals.count, place.others], [1, 3, 0, 2]);
const accepted = await offers.acceptOffer({ OfferCode: { code } });
assert.deepEqual([accepted.state, accepted.signup.removed_reason], ['accepted', 'accepted']);
const back = await offers.returnWaiters({ waitlist_id: 1, ReturnWaiters: { signups: [{ uuid: offered.uuid }] } });
assert.deepEqual(
  back.map((waiter) => [waiter.uuid, waiter.status, waiter.priority]),
  [[offered.uuid, 'waiting', 0]],
);
const ended = await problemOf(offers.acceptOffer({ OfferCode: { code } }));
assert.deepEqual([ended.status, ended.error_code], [409, 'OFFER_ENDED']);

// Another waitlist, with questions; its key in the header
const waitlists = new WaitlistApi(new Configuration({ basePath, accessToken }));
const launch = await waitlists.createWaitlist({
  CreateWaitlist: {
    waitlist_name: 'Launch',
    waitlist_url_location: 'https://example.com/join',
    questions: [{ question_value: 'Which?', answer_value: ['One', 'Two'] }, { question_value: 'Why?' }],
  },
});
const answers = [{ question_value: 'Which?', answer_value: ['One', 'Two'] }];
const ask = { waitlist_id: launch.id, email: 'ada@example.com', last_name: 'Lovelace', metadata: { plan: 1 }, answers };
const asked = await signups.createSignup({ CreateSignup: ask });
assert.deepEqual(
  asked.answers.map((answer) => answer.answer_value),
  [['One', 'Two'], null],
);
const repeated = await signups.createSignup({ CreateSignup: ask });
assert.equal(repeated.uuid, asked.uuid);
assert.deepEqual(
  repeated.answers.map((answer) => answer.answer_value),
  [null, null],
);
const seen = await waitlists.getWaitlist({ waitlist_id: launch.id });
assert.deepEqual([seen.statistics?.current_signups, seen.spots_to_move_upon_referral], [1, 3]);
const shown = await new WaitlistApi(new Configuration({ basePath })).getWaitlist({ waitlist_id: launch.id });
assert.deepEqual([shown.statistics?.total_signups, shown.spots_to_move_upon_referral], [1, 3]);
const preview = await waitlists.previewMail({ waitlist_id: launch.id, kind: 'welcome' });
assert.equal(preview.subject, 'You’re on the list: Launch');
assert.equal((await waitlists.listWaitlists({ limit: 1 })).length, 1);
assert.deepEqual(await waitlists.listWaitlists({ after_id: launch.id }), []);
const others = new WaiterApi(new Configuration({ basePath, accessToken, apiKey: launch.api_key }));
const [listed] = await others.listWaiters({ questions_request: true });
assert.deepEqual([listed?.answer_1, listed?.last_name, listed?.metadata], ['One, Two', 'Lovelace', { plan: 1 }]);

// An account key, for a program that runs without a login
const accountKeys = new AccountKeyApi(new Configuration({ basePath, accessToken }));
const { id, key } = await accountKeys.createAccountKey({ CreateAccountKey: { name: 'Report', scope: 'read' } });
const program = new WaiterApi(new Configuration({ basePath, apiKey: key }));
assert.equal((await program.listWaiters({ waitlist_id: launch.id })).length, 1);
await accountKeys.revokeAccountKey({ id });
const revoked = await problemOf(program.listWaiters({ waitlist_id: launch.id }));
assert.deepEqual([revoked.status, revoked.error_code], [401, 'INVALID_ACCOUNT_KEY']);

// Members of the account
const team = new MemberApi(new Configuration({ basePath, accessToken }));
const me = await team.updateOwnMember({ UpdateOwnMember: { name: 'Ada' } });
assert.deepEqual([me.email, me.name, me.role, me.status], [email, 'Ada', 'owner', 'active']);
assert.deepEqual(
  (await team.listMembers({ limit: 1 })).map((member) => member.id),
  [me.id],
);
const last = await problemOf(team.updateMember({ id: me.id, UpdateMember: { role: 'viewer' } }));
assert.deepEqual([last.status, last.error_code], [409, 'LAST_OWNER']);

// An answer of a later version, with values that this one does not list
const later = WaiterFromJSON({ ...first, status: 'invited', credit: 'bought', credit_reasons: ['rumor'] });
assert.deepEqual([later.status, later.credit, later.credit_reasons], ['invited', 'bought', ['rumor']]);
assert.equal(AccountKeyFromJSON({ id, scope: 'delete' }).scope, 'delete');

// What can go wrong
const nobody = await problemOf(signups.getSignup({ waitlist_id: 1, email: 'nobody@example.com' }));
assert.deepEqual([nobody.status, nobody.error_code], [404, 'NO_WAITER_FOUND']);
const stranger = new WaiterApi(new Configuration({ basePath, accessToken: 'expired' }));
const expired = await problemOf(stranger.listWaiters({ api_key }));
assert.deepEqual([expired.status, expired.error_code], [401, 'INVALID_TOKEN']);
const incomplete = await problemOf(signups.createSignup({ CreateSignup: { waitlist_id: 1 } }));
assert.deepEqual([incomplete.status, incomplete.error_code], [422, 'WAITLIST_RULE_BROKEN']);
assert.equal(incomplete.errors?.[0]?.field, 'email');
