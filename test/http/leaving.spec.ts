import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { parseHTML } from 'linkedom';
import type { Answer } from '../support/api.js';
import { ahead } from '../support/clock.js';
import { type MailingService, startMailingService } from '../support/mailing-service.js';
import { documentOf, pressButton, statusPath, textOf, within } from '../support/page.js';
import { type Service, startService } from '../support/service.js';
import { newEmail, type OwnedWaitlist, type Person } from '../support/world.js';

const DAY_MS = 24 * 3_600_000;

let service: MailingService;
beforeAll(async () => {
  service = await startMailingService();
});
afterAll(() => service.stop());

const open = (path: string, of: Service = service): Promise<Answer> => of.api.get(path);
const press = (path: string, from?: string): Promise<Answer> => pressButton(service.api, path, from);

/** The newest of so many mails to a person. */
async function mailTo(email: string, count = 1) {
  return (await service.mailsTo(email, count)).at(-1)!;
}

/** Somebody who joined, and the link at the end of the mail. */
async function newcomer(waitlist: OwnedWaitlist, fields: object = {}) {
  const person = await service.world.signup(waitlist, { ...fields });
  const { link, leaveLink } = await mailTo(person.email);
  return { ...person, verifyLink: link!, link: leaveLink! };
}

const isThere = async (waitlist: OwnedWaitlist, { uuid }: Person): Promise<boolean> =>
  (await service.api.get(`/api/v1/signup/${uuid}`, waitlist.owner)).status === 200;

describe('a link to leave', () => {
  it('ends each mail to a person, in text and in HTML, in the language of the waitlist', async () => {
    const waitlist = await service.world.waitlist({ verification: 'required', mail_on_offboarding: true, lang: 'de' });
    const ada = await newcomer(waitlist);
    await press(ada.verifyLink);

    await service.world.offboardPeople(waitlist, ada);

    const mails = await service.mailsTo(ada.email, 2);
    for (const { text, html, leaveLink } of mails) {
      const url = `https://example.com/lists${leaveLink}`;
      expect(leaveLink).toMatch(new RegExp(`^/waitlist/${waitlist.id}/leave/[\\w-]{43}$`));
      expect(text!.trimEnd().split('\n').slice(-2)).toEqual([expect.stringContaining('Warteliste'), url]);
      expect([...parseHTML(html!).document.querySelectorAll('a')].at(-1)!.getAttribute('href')).toBe(url);
    }
    expect(new Set(mails.map(({ leaveLink }) => leaveLink)).size).toBe(2);
  });

  it('leads to a page with a button and changes nothing by itself, because mail scanners open it', async () => {
    const waitlist = await service.world.waitlist({ verification: 'optional', title: 'Launch', is_public: false });
    const ada = await newcomer(waitlist);

    const head = await service.api.call('HEAD', ada.link);
    const page = await open(ada.link);

    expect([head.status, page.status]).toEqual([200, 200]);
    expect(page.headers).toMatchObject({ 'cache-control': 'no-store', 'x-robots-tag': 'noindex' });
    expect([textOf(page, 'h1'), textOf(page, 'button')]).toEqual(['Leave the waitlist', 'Leave the waitlist']);
    expect(within(documentOf(page).querySelector('form')!.getAttribute('action'))).toBe(ada.link);
    expect(page.text).not.toContain(ada.email);
    expect(await isThere(waitlist, ada)).toBe(true);
  });

  it('takes the person off the list, and the credit from their referrer, whom the next signup moves no further', async () => {
    const waitlist = await service.world.waitlist({ verification: 'optional', spots_to_move_upon_referral: 2 });
    const [, , referrer] = await service.world.signups(waitlist, 3);
    const email = newEmail();
    const positions: number[] = [];
    for (let round = 1; round <= 2; round += 1) {
      const friend = await service.world.signup(waitlist, { email, referral_link: referrer!.referral_link });
      const { link, leaveLink } = await mailTo(email, round);
      await press(link!);
      positions.push(await service.world.priorityOf(referrer!));

      const left = await press(leaveLink!);

      positions.push(await service.world.priorityOf(referrer!));
      expect([left.status, within(left.headers.location)]).toEqual([303, leaveLink]);
      expect(await isThere(waitlist, friend)).toBe(false);
    }
    expect(positions).toEqual([0, 2, 0, 2]);
  });

  it('shows that the person is off the list, at a second click too, and once the owner has erased them', async () => {
    const waitlist = await service.world.waitlist({ verification: 'optional' });
    const [ada, bob] = [await newcomer(waitlist), await newcomer(waitlist)];
    await press(ada.link);
    const body = { waitlist_id: waitlist.id, signups: [{ uuid: bob.uuid }] };
    await service.api.call('DELETE', '/api/v1/signup', body, waitlist.owner);

    expect((await press(ada.link)).status).toBe(303);
    // The link leads to the signup of that time, whatever follows.
    await service.world.signup(waitlist, { email: ada.email });
    for (const { link } of [ada, bob]) {
      const page = await open(link);
      expect([page.status, textOf(page, 'h1')]).toEqual([200, 'You’re off the list']);
      expect(textOf(page)).toContain('If you’ve joined again since, your new signup stays.');
      expect(documentOf(page).querySelector('form')).toBeNull();
    }
  });

  it('works for people who have not confirmed their email, and for those who were let in', async () => {
    const waitlist = await service.world.waitlist({ verification: 'required' });
    const [pending, ada] = [await newcomer(waitlist), await newcomer(waitlist)];
    await press(ada.verifyLink);
    await service.world.offboardPeople(waitlist, ada);
    const pages = [await open(pending.link), await open(ada.link)];

    for (const { link } of [pending, ada]) await press(link);

    // Neither of them has a place to lose.
    for (const page of pages) expect(textOf(page)).toContain('Your signup and your personal data will be deleted.');
    expect([await isThere(waitlist, pending), await isThere(waitlist, ada)]).toEqual([false, false]);
    expect(await service.world.signup(waitlist, { email: ada.email })).toMatchObject({ status: 'pending' });
  });

  it('leaves an event for webhooks and one in the audit log, which has no address of the person', async () => {
    const waitlist = await service.world.waitlist({ verification: 'optional' });
    const hook = await service.api.post(
      `/api/v1/waitlist/${waitlist.id}/webhook`,
      { url: 'https://example.com/hook', events: ['erased_signup'] },
      waitlist.owner,
    );
    const ada = await newcomer(waitlist);

    await press(ada.link);
    await press(ada.link);

    const path = `/api/v1/waitlist/${waitlist.id}/webhook/${hook.body.id}/delivery`;
    expect((await service.api.get(path, waitlist.owner)).body).toMatchObject([
      { event: 'erased_signup', signup_uuid: ada.uuid },
    ]);
    const query = { uuid: ada.uuid };
    expect((await service.api.get('/api/v1/audit', { token: waitlist.owner.token, query })).body).toMatchObject([
      { action: 'waiter_left', uuids: [ada.uuid], waitlist_id: waitlist.id, address_hash: null },
    ]);
  });

  it('is 404 with a page if it is wrong, of another waitlist, or older than 30 days', async () => {
    const waitlist = await service.world.waitlist({ verification: 'optional' });
    const other = await service.world.waitlist();
    const ada = await newcomer(waitlist);
    const expectNone = async (path: string) => {
      for (const answer of [await open(path), await press(path)])
        expect([answer.status, answer.headers['content-type']]).toEqual([404, 'text/html; charset=utf-8']);
    };

    for (const path of [`${ada.link}x`, ada.verifyLink.replace('verify', 'leave')]) await expectNone(path);
    await expectNone(ada.link.replace(`/${waitlist.id}/`, `/${other.id}/`));
    await ahead(29 * DAY_MS, async () => expect((await open(ada.link)).status).toBe(200));
    await ahead(31 * DAY_MS, async () => {
      await expectNone(ada.link);
      const page = await press(ada.link);
      expect(textOf(page)).toContain('A link to leave works for 30\u00a0days.');
      const button = documentOf(page).querySelector('main a')!;
      expect([button.textContent, within(button.getAttribute('href'))]).toEqual([
        'See my place',
        `/waitlist/${waitlist.id}/find`,
      ]);
    });
    expect(await isThere(waitlist, ada)).toBe(true);
  });

  it('ends with a corrected email, because somebody else may have got it', async () => {
    const waitlist = await service.world.waitlist({ verification: 'optional' });
    const ada = await newcomer(waitlist);
    const email = newEmail();

    await service.api.patch(`/api/v1/signup/${ada.uuid}`, { email }, waitlist.owner);

    expect((await press(ada.link)).status).toBe(404);
    expect(await isThere(waitlist, ada)).toBe(true);
    expect((await press((await mailTo(email)).leaveLink!)).status).toBe(303);
  });
});

describe('a private page', () => {
  const askAt = (waitlist: OwnedWaitlist, person: Person, from?: string) =>
    press(`${statusPath(waitlist, person)}/leave`, from);

  it('mails a link, so that nobody to whom it was forwarded can take the person off the list', async () => {
    const waitlist = await service.world.waitlist({ title: 'Launch' });
    const ada = await service.world.signup(waitlist);
    const page = await open(statusPath(waitlist, ada));
    const action = within(documentOf(page).querySelector('.waitlist-leave')!.getAttribute('action'));

    const sent = await press(action);
    const after = await open(within(sent.headers.location));

    expect([sent.status, textOf(page, '.waitlist-leave button')]).toEqual([303, 'Leave the waitlist']);
    expect(textOf(page)).not.toContain('We sent you a link to leave.');
    expect(textOf(after)).toContain('We sent you a link to leave.');
    expect([page.text, after.text, sent.text].join()).not.toContain(ada.email);
    const { subject, html, leaveLink } = await mailTo(ada.email);
    expect(subject).toBe('Leave the waitlist: Launch');
    expect(parseHTML(html!).document.querySelector('a')!.getAttribute('href')).toBe(
      `https://example.com/lists${leaveLink}`,
    );
    expect(await isThere(waitlist, ada)).toBe(true);
    await press(leaveLink!);
    expect(await isThere(waitlist, ada)).toBe(false);
  });

  it('mails one link however often the button is pressed at once', async () => {
    const waitlist = await service.world.waitlist();
    const ada = await service.world.signup(waitlist);
    const bob = await service.world.signup(waitlist);

    await Promise.all(Array.from({ length: 3 }, () => askAt(waitlist, ada)));
    await mailTo(ada.email);
    await askAt(waitlist, bob);
    await mailTo(bob.email);

    expect(service.mail.tried.filter((email) => email === ada.email)).toHaveLength(1);
  });

  it('sends no more than five of these mails an hour to one mailbox, over all requests', async () => {
    const waitlist = await service.world.waitlist();
    const ada = await service.world.signup(waitlist);
    const tried = () => service.mail.tried.filter((email) => email === ada.email).length;
    for (let count = 1; count <= 5; count += 1) {
      await askAt(waitlist, ada);
      await mailTo(ada.email, count);
    }

    const beyond = await askAt(waitlist, ada);
    // Of another mailbox, whose mail is later.
    const bob = await service.world.signup(waitlist);
    await askAt(waitlist, bob);
    await mailTo(bob.email);

    expect([beyond.status, tried()]).toEqual([303, 5]);
  });

  it('answers 429 beyond five requests an hour from one address, for whomever', async () => {
    const waitlist = await service.world.waitlist();
    const [ada, bob] = await service.world.signups(waitlist, 2);
    const statuses: number[] = [];
    for (const person of [ada, bob!, ada, bob!, ada, bob!])
      statuses.push((await askAt(waitlist, person, '198.51.100.77')).status);

    expect(statuses).toEqual([303, 303, 303, 303, 303, 429]);
  });

  it('of a person without an email has no button, but the contact', async () => {
    const required_contact = { email: 'optional', phone: 'optional' } as const;
    const waitlist = await service.world.waitlist({ required_contact, contact: 'hello@example.com' });
    const ada = await service.world.signup(waitlist, { email: null, phone: '+14155550123' });

    const page = await open(statusPath(waitlist, ada));
    const asked = await askAt(waitlist, ada);
    const stranger = await press(`/waitlist/${waitlist.id}/status/${randomUUID()}/leave`);

    expect(documentOf(page).querySelector('form')).toBeNull();
    expect(textOf(page)).toContain('Get in touch: hello@example.com');
    expect([asked.status, stranger.status]).toEqual([303, 303]);
    expect(textOf(await open(within(asked.headers.location)))).not.toContain('We sent you a link');
  });
});

describe('a service that sends no mail', () => {
  let silent: Service;
  beforeAll(async () => {
    silent = await startService();
  });
  afterAll(() => silent.stop());

  it.each([
    ['hello+list@example.com', 'mailto:hello%2Blist@example.com'],
    ['https://example.com/help?a=1&b=2', 'https://example.com/help?a=1&b=2'],
  ])('names the contact %s on the private page', async (contact, href) => {
    const waitlist = await silent.world.waitlist({ contact });
    const ada = await silent.world.signup(waitlist);

    const page = await open(statusPath(waitlist, ada), silent);

    const link = documentOf(page).querySelector('.waitlist-leave a')!;
    expect([link.textContent, link.getAttribute('href')]).toEqual([contact, href]);
    expect(documentOf(page).querySelector('form')).toBeNull();
  });

  it('says nothing about leaving without a contact', async () => {
    const waitlist = await silent.world.waitlist();
    const ada = await silent.world.signup(waitlist);

    const page = await open(statusPath(waitlist, ada), silent);

    expect([page.status, documentOf(page).querySelector('.waitlist-leave')]).toEqual([200, null]);
  });
});
