import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { LANGUAGES } from '../../web/page/texts.js';
import type { Answer } from '../support/api.js';
import { ahead } from '../support/clock.js';
import { type MailingService, startMailingService } from '../support/mailing-service.js';
import { documentOf, pressButton, statusPath, textOf, textsOf, within } from '../support/page.js';
import type { OwnedWaitlist, Person } from '../support/world.js';

const HOUR_MS = 3_600_000;
const WEEK_MS = 7 * 24 * HOUR_MS;
const OFFER_LINK = /\/waitlist\/\d+\/offer\/([\w-]+)/;

let service: MailingService;
beforeAll(async () => {
  service = await startMailingService();
});
afterAll(() => service.stop());

const open = (waitlist: OwnedWaitlist, person: Person): Promise<Answer> =>
  service.api.get(statusPath(waitlist, person));
const press = (path: string, from?: string): Promise<Answer> => pressButton(service.api, path, from);

/** The sentences that explain a place. */
async function whyOf(waitlist: OwnedWaitlist, person: Person): Promise<string[]> {
  return textsOf(await open(waitlist, person), '.waitlist-why li');
}

const joinBy = ({ referral_link }: Person, waitlist: OwnedWaitlist, fields: object = {}): Promise<Person> =>
  service.world.signup(waitlist, { referral_link, ...fields });

async function offer(waitlist: OwnedWaitlist, people: readonly Person[], hours: number | null = 48): Promise<string[]> {
  const body = { signups: people.map(({ uuid }) => ({ uuid })), hours };
  const answer = await service.api.post(`/api/v1/waitlist/${waitlist.id}/offer`, body, waitlist.owner);
  expect(answer.status).toBe(200);
  return (answer.body as { offer_url: string }[]).map(({ offer_url }) => OFFER_LINK.exec(offer_url)![1]!);
}

const stateOf = async (waitlist: OwnedWaitlist, code: string): Promise<unknown> =>
  (await service.api.post('/api/v1/offer/check', { code }, waitlist.owner)).body.state;

/** When the offer to a person ends, once its mail has been handed over. */
async function endOf({ id }: OwnedWaitlist, { uuid }: Person): Promise<Date> {
  for (;;) {
    const { body } = await service.api.get('/api/v1/signup', { query: { waitlist_id: id, uuid } });
    if (body.offer_expires_at !== null) return new Date(String(body.offer_expires_at));
  }
}

/** The codes of the offers that were mailed to a person, once there are so many. */
async function codesTo({ email }: Person, count: number): Promise<string[]> {
  const mails = await service.mailsTo(email, count);
  return mails.map(({ text }) => OFFER_LINK.exec(text ?? '')?.[1] ?? '');
}

describe('the private page of a person in line', () => {
  it('says what friends, others and the owner did, and what one more friend would do', async () => {
    const waitlist = await service.world.waitlist({ spots_to_move_upon_referral: 2 });
    const [first, second, , , , , , ada] = await service.world.signups(waitlist, 8);
    const joined = await whyOf(waitlist, ada!);
    await joinBy(ada!, waitlist);
    const referred = await whyOf(waitlist, ada!);
    await joinBy(ada!, waitlist);
    await service.world.offboardPeople(waitlist, first);
    const letInBefore = await open(waitlist, ada!);
    for (let friends = 1; friends <= 3; friends += 1) await joinBy(second!, waitlist);
    const last = await service.world.signup(waitlist);
    for (let friends = 1; friends <= 4; friends += 1) await joinBy(last, waitlist);

    expect(joined).toEqual(['One more friend would bring you to number 6.']);
    expect(referred).toEqual([
      'You joined as number 8.',
      '1 friend has joined through your link. That moved you up 2 places.',
      'One more friend would bring you to number 4.',
    ]);
    expect(textsOf(letInBefore, '.waitlist-why li')).toEqual([
      'You joined as number 8.',
      '2 friends have joined through your link. That moved you up 4 places.',
      'As the list moved on, you moved up 1 place.',
      'One more friend would bring you to number 1.',
    ]);
    expect(textOf(letInBefore).split('2 friends have joined')).toHaveLength(2);
  });

  it('says that others moved ahead', async () => {
    const waitlist = await service.world.waitlist({ spots_to_move_upon_referral: 3, is_closed: false });
    const [, ada, bob] = await service.world.signups(waitlist, 3);
    await joinBy(bob!, waitlist);

    expect(await whyOf(waitlist, ada!)).toEqual([
      'You joined as number 2.',
      'Other changes to the list moved you back 1 place.',
      'One more friend would bring you to number 1.',
    ]);
  });

  it('never counts places beyond the front, nor friends who could not join', async () => {
    const waitlist = await service.world.waitlist({ spots_to_move_upon_referral: 10 });
    const [, ada, bob] = await service.world.signups(waitlist, 3);
    await joinBy(ada!, waitlist);
    const atFront = await whyOf(waitlist, ada!);
    for (let friends = 1; friends <= 3; friends += 1) await joinBy(bob!, waitlist);
    await service.api.patch(`/api/v1/waitlist/${waitlist.id}`, { is_closed: true }, waitlist.owner);

    const friend = '1 friend has joined through your link. That moved you up 1 place.';
    expect(atFront).toEqual(['You joined as number 2.', friend]);
    expect(await whyOf(waitlist, ada!)).toEqual([friend, 'Other changes to the list moved you back 1 place.']);
  });

  it('shows nothing of referrals that earned no credit', async () => {
    const waitlist = await service.world.waitlist({ fraud: { referrals_per_hour: 1 } });
    const people = await service.world.signups(waitlist, 9);
    const ada = people.at(-1)!;
    for (let friends = 1; friends <= 2; friends += 1) await joinBy(ada, waitlist);

    const page = await open(waitlist, ada);

    expect(textsOf(page, '.waitlist-why li')).toContain(
      '1 friend has joined through your link. That moved you up 3 places.',
    );
    expect(textOf(page)).not.toMatch(/\b2 friends|withheld|refused/);
  });

  it('estimates when it is their turn, where enough people were let in, and in months if that is far away', async () => {
    const waitlist = await service.world.waitlist({ spots_to_move_upon_referral: 0, uses_leaderboard: false });
    const people = await service.world.signups(waitlist, 45);
    const [near, far] = [people[5]!, people[44]!];
    const [first, second, third] = await Promise.all(
      people.slice(0, 3).map((person) => service.world.idOf(waitlist, person)),
    );
    // A login would end before the weeks have passed.
    const { body: account } = await service.api.post(
      '/api/v1/api_key',
      { name: 'Weeks', scope: 'manage' },
      waitlist.owner,
    );
    const letInNow = async (...ids: readonly number[]) => {
      const body = { waitlist_id: waitlist.id, offboard_request: true, waiters: ids.map((id) => ({ id })) };
      const headers = { 'api-key': String(account.key) };
      expect((await service.api.patch('/api/v1/waiter', body, { headers })).status).toBe(200);
    };
    await letInNow(first!);
    const unknown = await whyOf(waitlist, near);
    await ahead(WEEK_MS, () => letInNow(second!, third!));

    await ahead(2 * WEEK_MS, async () => {
      const { body } = await service.api.get('/api/v1/signup/place', {
        query: { waitlist_id: waitlist.id, uuid: near.uuid },
      });
      const { from, to } = body.estimate as { from: string; to: string };
      const days = new Intl.DateTimeFormat('en', { dateStyle: 'long', timeZone: 'UTC' });
      const months = new Intl.DateTimeFormat('en', { year: 'numeric', month: 'long', timeZone: 'UTC' });
      const estimated = 'When it could be your turn, at the pace of recent weeks: ';
      expect(await whyOf(waitlist, near)).toEqual([
        'You joined as number 6.',
        'As the list moved on, you moved up 3 places.',
        `${estimated}${days.formatRange(new Date(from), new Date(to))}`,
      ]);
      const now = Date.now();
      const inDays = (count: number) => new Date(now + count * 24 * HOUR_MS);
      expect((await whyOf(waitlist, far)).at(-1)).toBe(`${estimated}${months.formatRange(inDays(147), inDays(294))}`);
    });
    expect(unknown).toEqual(['You joined as number 6.', 'As the list moved on, you moved up 1 place.']);
  });

  it.each(LANGUAGES)('explains the place in the language of the waitlist: %s', async (lang) => {
    const waitlist = await service.world.waitlist({ lang, spots_to_move_upon_referral: 2 });
    const people = await service.world.signups(waitlist, 6);
    const ada = people.at(-1)!;
    await joinBy(ada, waitlist);

    const why = await whyOf(waitlist, ada);

    expect(why).toHaveLength(3);
    expect(why.join(' ')).not.toMatch(/[{}]/);
    if (lang !== 'en') expect(why.join(' ')).not.toMatch(/\b(?:joined|friends?|moved)\b/);
  });

  it('tells its script where the events are, and lets it ask nobody else', async () => {
    const waitlist = await service.world.waitlist();
    const ada = await service.world.signup(waitlist);

    const page = await open(waitlist, ada);

    const line = documentOf(page).querySelector('.waitlist-live')!;
    const query = `waitlist_id=${waitlist.id}&uuid=${ada.uuid}`;
    const { body } = await service.api.get(`/api/v1/signup/place?${query}`);
    expect(line.getAttribute('data-events')).toBe(`/lists/api/v1/signup/events?${query}`);
    expect(JSON.parse(line.getAttribute('data-place')!)).toEqual(body);
    expect(line.getAttribute('data-place')).toBe(JSON.stringify(body));
    expect(String(page.headers['content-security-policy']).split(';')).toContain("connect-src 'self'");
    const form = await service.api.get(`/waitlist/${waitlist.id}`);
    expect(String(form.headers['content-security-policy'])).not.toContain('connect-src');
  });
});

describe('the private page of somebody who is offered a spot', () => {
  it('says until when once the mail is out, and never the code', async () => {
    const waitlist = await service.world.waitlist({ lang: 'de' });
    const ada = await service.world.signup(waitlist);
    const [code] = await offer(waitlist, [ada]);
    await codesTo(ada, 1);
    const endsAt = await endOf(waitlist, ada);
    const until = new Intl.DateTimeFormat('de', {
      day: 'numeric',
      month: 'long',
      year: 'numeric',
      hour: 'numeric',
      minute: '2-digit',
      timeZone: 'UTC',
      timeZoneName: 'short',
    }).format(endsAt);

    const page = await open(waitlist, ada);

    expect([page.status, textOf(page, 'h1')]).toEqual([200, 'Ein Platz ist für dich frei']);
    expect(textOf(page, 'title')).toMatch(/^Ein Platz ist für dich frei – /);
    expect(textsOf(page, '.waitlist-ahead')).toEqual([
      `Du kannst bis ${until} annehmen.`,
      'Öffne den Link, den wir dir gemailt haben, um den Platz anzunehmen oder abzulehnen.',
    ]);
    expect(textOf(page, '.waitlist-resend button')).toBe('Neuen Link zusenden');
    expect(page.text).not.toContain(code);
    expect(page.text).not.toContain('/offer/');
  });

  it('names no end of an offer that never expires, and no mail where none can reach the person', async () => {
    const waitlist = await service.world.waitlist({ required_contact: { email: 'off', phone: 'required' } });
    const phone = `+1201555${String(Math.floor(Math.random() * 9_000) + 1_000)}`;
    const { body } = await service.api.post('/api/v1/signup', { waitlist_id: waitlist.id, phone });
    const ada = { ...body, email: '' } as unknown as Person;
    await offer(waitlist, [ada], null);

    const page = await open(waitlist, ada);

    expect(textsOf(page, '.waitlist-ahead')).toEqual(['Open the link from us to accept it or decline it.']);
    expect(documentOf(page).querySelector('form')).toBeNull();
  });

  it('mails a new link at a click, which ends the old one', async () => {
    const waitlist = await service.world.waitlist();
    const ada = await service.world.signup(waitlist);
    await offer(waitlist, [ada]);
    const [first] = await codesTo(ada, 1);
    const action = documentOf(await open(waitlist, ada))
      .querySelector('.waitlist-resend')!
      .getAttribute('action')!;

    const answer = await press(within(action));

    expect([answer.status, answer.headers.location]).toEqual([303, `/lists${statusPath(waitlist, ada)}?sent`]);
    const page = await service.api.get(`${statusPath(waitlist, ada)}?sent`);
    expect(textOf(page, '[role=status]:not(.waitlist-live)')).toBe(
      'A link is on its way. It can take a few minutes to arrive.',
    );
    const [, second] = await codesTo(ada, 2);
    expect(second).not.toBe(first);
    expect([await stateOf(waitlist, first!), await stateOf(waitlist, second!)]).toEqual([undefined, 'open']);
    const audit = await service.api.get('/api/v1/audit', { token: waitlist.owner.token, query: { uuid: ada.uuid } });
    expect((audit.body as unknown as { action: string }[])[0]).toMatchObject({ action: 'offer_link_made' });
  });

  it('mails no more than a verification link is, by the address that asks and by the mailbox', async () => {
    const waitlist = await service.world.waitlist();
    const ada = await service.world.signup(waitlist);
    await offer(waitlist, [ada]);
    await codesTo(ada, 1);
    const ask = async (from: string) => (await press(`${statusPath(waitlist, ada)}/offer`, from)).status;
    const statuses: number[] = [];
    for (let click = 1; click <= 5; click += 1) {
      statuses.push(await ask('192.0.2.17'));
      await codesTo(ada, click + 1);
    }
    statuses.push(await ask('192.0.2.17'));
    // Neither a mail nor another code, because the mailbox has got as many as it may.
    statuses.push(await ask('192.0.2.18'));

    expect(statuses).toEqual([303, 303, 303, 303, 303, 429, 303]);
    const codes = await codesTo(ada, 6);
    const states = await Promise.all(codes.map((code) => stateOf(waitlist, code)));
    expect(states).toEqual([...Array.from({ length: 5 }, () => undefined), 'open']);
  });

  it('has a button that does nothing for people who are not offered anything, and none for strangers', async () => {
    const waitlist = await service.world.waitlist();
    const ada = await service.world.signup(waitlist);

    expect((await press(`${statusPath(waitlist, ada)}/offer`)).status).toBe(303);
    expect((await press(`/waitlist/${waitlist.id}/status/${randomUUID()}/offer`)).status).toBe(303);
    expect((await press(`/waitlist/${waitlist.id}/status/nobody/offer`)).status).toBe(404);
    const audit = await service.api.get('/api/v1/audit', { token: waitlist.owner.token, query: { uuid: ada.uuid } });
    expect(audit.body).toEqual([]);
  });
});

describe('the private page of somebody who is gone', () => {
  it('says that they declined, or that the offer expired, without the button of those who are let in', async () => {
    const your_turn_url = 'https://example.com/welcome';
    const waitlist = await service.world.waitlist({ your_turn_url });
    const [ada, bob, cleo, dora] = await service.world.signups(waitlist, 4);
    const [code, accepted] = await offer(waitlist, [ada, bob!]);
    await press(`/waitlist/${waitlist.id}/offer/${code}/decline`);
    await press(`/waitlist/${waitlist.id}/offer/${accepted}/accept`);
    await offer(waitlist, [cleo!], 1);
    await codesTo(cleo!, 1);
    await endOf(waitlist, cleo!);
    await service.world.offboardPeople(waitlist, dora!);

    const declined = await open(waitlist, ada);
    expect([textOf(declined, 'h1'), textOf(declined, '.waitlist-ahead')]).toEqual([
      'You’ve declined',
      'You’re no longer on the waitlist.',
    ]);
    const expired = await ahead(HOUR_MS + 1_000, () => open(waitlist, cleo!));
    expect(textOf(expired, 'h1')).toBe('The time to accept is over');
    for (const page of [declined, expired])
      expect([
        page.text.includes(your_turn_url),
        documentOf(page).querySelector('.waitlist-live')?.textContent ?? '',
      ]).toEqual([false, '']);
    for (const person of [bob!, dora!]) {
      const page = await open(waitlist, person);
      expect(textOf(page, 'h1')).toBe('It’s your turn');
      // It says so aloud, and hears if the owner takes it back.
      expect(documentOf(page).querySelector('.waitlist-live[role=status]')?.hasAttribute('data-events')).toBe(true);
      expect(documentOf(page).querySelector('main a')!.getAttribute('href')).toBe(your_turn_url);
    }
  });
});
