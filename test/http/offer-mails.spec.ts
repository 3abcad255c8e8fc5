import { afterAll, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { parseHTML } from 'linkedom';
import { DataSource } from 'typeorm';
import { MailDispatcher } from '../../src/mail/mail.dispatcher.js';
import { MailEntity } from '../../src/outbox/mail.entity.js';
import { Database } from '../../src/platform/database/database.js';
import { OfferSweeper } from '../../src/queue/maintenance/offer-sweeper.js';
import { OfferStore } from '../../src/queue/offers/offer.store.js';
import { QueueWriter } from '../../src/queue/write/queue.writer.js';
import type { OfferedWaiterDto } from '../../src/waiter/offer.dto.js';
import type { WaiterDto } from '../../src/waiter/waiter.dto.js';
import { momentIn } from '../../web/page/moment.js';
import { ahead } from '../support/clock.js';
import { BASE, type MailingService, startMailingService } from '../support/mailing-service.js';
import { pressButton } from '../support/page.js';
import { until } from '../support/service-process.js';
import type { OwnedWaitlist, Person } from '../support/world.js';

const HOUR_MS = 3_600_000;
const MINUTE_MS = 60_000;
const HOURS = 48;
/** A reminder is due. */
const REMINDED_MS = 32 * HOUR_MS + MINUTE_MS;

let service: MailingService;
beforeAll(async () => {
  service = await startMailingService();
});
afterAll(() => service.stop());

async function offerTo(waitlist: OwnedWaitlist, people: readonly Person[], hours: number | null = HOURS) {
  const body = { signups: people.map(({ uuid }) => ({ uuid })), hours };
  const answer = await service.api.post(`/api/v1/waitlist/${waitlist.id}/offer`, body, waitlist.owner);
  return answer.body as [OfferedWaiterDto, ...OfferedWaiterDto[]];
}

const bringBack = ({ id, ...waitlist }: OwnedWaitlist, { uuid }: Person) =>
  service.api.post(`/api/v1/waitlist/${id}/return`, { signups: [{ uuid }] }, { token: waitlist.owner.token });

const mailsTo = ({ email }: Person, count?: number) => service.mailsTo(email, count);

async function waiterOf(waitlist: OwnedWaitlist, { uuid }: Person): Promise<WaiterDto> {
  return (await service.api.get(`/api/v1/signup/${uuid}`, waitlist.owner)).body as WaiterDto;
}

/** The end of the offer of a person, once its time has begun. */
async function endOf(waitlist: OwnedWaitlist, person: Person): Promise<Date> {
  const find = async () => (await waiterOf(waitlist, person)).offer_expires_at;
  await until(async () => (await find()) !== null);
  return new Date((await find())!);
}

/** Sweeps with a clock that is so far ahead. Resolves once nothing is due for the person: a sweep may be under way. */
async function sweepAhead(durationMs: number, { id }: OwnedWaitlist, { uuid }: Person): Promise<void> {
  const find = service.app.get(OfferStore).findOpen(id, [uuid]);
  await ahead(durationMs, async () => {
    await service.app.get(OfferSweeper).sweep();
    await until(async () => {
      const dueAt = (await service.app.get(Database).one(find)).get(uuid)?.dueAt;
      return !dueAt || dueAt > new Date();
    });
  });
}

/** The mails about offers that were stored for a person, in order. */
const storedFor = ({ uuid }: Person) =>
  service.app
    .get(DataSource)
    .getRepository(MailEntity)
    .find({ where: { waiterUuid: uuid }, order: { id: 'ASC' } })
    .then((mails) => mails.filter(({ kind }) => kind === 'offer' || kind === 'offer_reminder'));
const statesOf = async (person: Person) => (await storedFor(person)).map(({ kind, status }) => `${kind} ${status}`);

/** Resolves once so many mails of offers are stored as sent. */
async function sent(person: Person, count = 1): Promise<void> {
  await until(async () => (await statesOf(person)).filter((state) => state === 'offer sent').length === count);
}

/** Resolves once no mail of the person is due. */
async function settled(person: Person): Promise<void> {
  service.app.get(MailDispatcher).wake();
  await until(async () =>
    (await storedFor(person)).every(({ status, nextAttemptAt }) => status !== 'pending' || nextAttemptAt! > new Date()),
  );
}

describe('the mail of an offer', () => {
  it('has the link, until when it can be accepted, and the link to leave; the time begins when it was handed over', async () => {
    const waitlist = await service.world.waitlist({ title: 'Lumen' });
    const ada = await service.world.signup(waitlist, { first_name: 'Ada' });
    const before = Date.now();

    const [made] = await offerTo(waitlist, [ada]);
    const [{ subject, text, html, offerLink, leaveLink }] = await mailsTo(ada);

    expect(made.offer_expires_at).toBeNull();
    const end = await endOf(waitlist, ada);
    expect(end.getTime()).toBeGreaterThanOrEqual(before + HOURS * HOUR_MS);
    expect(end.getTime()).toBeLessThanOrEqual(Date.now() + HOURS * HOUR_MS);
    expect(subject).toBe('A spot is open for you: Lumen');
    expect(`${BASE}${offerLink}`).toBe(made.offer_url);
    // A stranger may have typed the name.
    expect(text).toContain('Hello,\n\nOpen the link to accept your spot, or to decline it.\n\nYou can accept until ');
    expect(text).toContain(`UTC.\n\nAccept or decline:\n${made.offer_url}\n`);
    expect(text).toContain('Please don’t forward this email');
    expect(text!.trimEnd().endsWith(`${BASE}${leaveLink}`)).toBe(true);
    expect(parseHTML(html!).document.querySelector('a')!.getAttribute('href')).toBe(made.offer_url);
    const stated = /until (.+?)\.\n/.exec(text!)![1]!;
    const ends = [end, new Date(end.getTime() - MINUTE_MS)].map((moment) => momentIn('en', moment));
    expect(ends).toContain(stated);
  });

  it('names a person who has confirmed, in the language of the waitlist', async () => {
    const waitlist = await service.world.waitlist({ verification: 'optional', lang: 'de' });
    const ada = await service.world.signup(waitlist, { first_name: 'Ada' });
    await pressButton(service.api, (await mailsTo(ada))[0].link!);

    await offerTo(waitlist, [ada]);

    const { text } = (await mailsTo(ada, 2))[1]!;
    expect(text).toContain('Hallo Ada!');
    expect(text).toMatch(/Du kannst bis \d+\. \S+ \d{4} um \d\d:\d\d UTC annehmen\./);
  });

  it('names no end of an offer that has none, and no reminder follows', async () => {
    const waitlist = await service.world.waitlist();
    const ada = await service.world.signup(waitlist);

    await offerTo(waitlist, [ada], null);

    const [{ text }] = await mailsTo(ada);
    expect(text).not.toMatch(/\sUTC/);
    await until(async () => (await statesOf(ada)).join() === 'offer sent');
  });

  it('has the owner’s words, with the place of when it was offered; the end and the button are ours', async () => {
    const mails = { offer: { subject: '{waitlist_name}: {place}', text: 'In, {first_name}!\n\n{link}' } };
    const waitlist = await service.world.waitlist({ title: 'Lumen', mails });
    const [, ada] = await service.world.signups(waitlist, 2);

    const [made] = await offerTo(waitlist, [ada!]);

    const [{ subject, text }] = await mailsTo(ada!);
    expect(subject).toBe('Lumen: 2');
    expect(text).toContain(`Hello,\n\nIn, !\n\n${made.offer_url}\n\nYou can accept until `);
    expect(text).toContain(`Accept or decline:\n${made.offer_url}`);
  });

  it('is shown and tried by the owner with invented values', async () => {
    const waitlist = await service.world.waitlist({ offers: { hours: null }, mails: { offer: { text: '{place}' } } });
    const path = `/api/v1/waitlist/${waitlist.id}`;

    const { body, status } = await service.api.get(`${path}/mail_preview`, {
      query: { kind: 'offer' },
      token: waitlist.owner.token,
    });
    const tried = await service.api.post(`${path}/mail_test`, { kind: 'offer' }, waitlist.owner);

    expect([status, tried.status]).toEqual([200, 202]);
    expect(body.text).toContain('\n5\n');
    expect(body.text).not.toContain('/offer/');
    expect(body.text).not.toMatch(/\sUTC/);
    expect((await service.mailsTo(waitlist.owner.email))[0].subject).toBe(body.subject);
  });

  it('accepts nothing for a scanner that follows every link in it', async () => {
    const waitlist = await service.world.waitlist();
    const ada = await service.world.signup(waitlist);
    await offerTo(waitlist, [ada]);
    const [{ html }] = await mailsTo(ada);
    const links = [...parseHTML(html!).document.querySelectorAll('a')].map((link) => link.getAttribute('href')!);

    for (const link of links)
      for (const method of ['HEAD', 'GET'] as const)
        expect((await service.api.call(method, link.replace(BASE, ''))).status).toBe(200);

    expect(links.length).toBeGreaterThan(1);
    expect(await waiterOf(waitlist, ada)).toMatchObject({ status: 'offered' });
  });

  it('counts in no bound of the mails that strangers cause', async () => {
    const waitlist = await service.world.waitlist({ verification: 'optional' });
    const ada = await service.world.signup(waitlist);
    await mailsTo(ada);
    for (let round = 1; round <= 6; round += 1) {
      await offerTo(waitlist, [ada]);
      await mailsTo(ada, 1 + round);
      await bringBack(waitlist, ada);
    }

    await service.api.post('/api/v1/signup/resend_verification', { waitlist_id: waitlist.id, email: ada.email });

    expect((await mailsTo(ada, 8))[7]!.link).not.toBeNull();
  });
});

/** Holds back the commands about offers of a waitlist. Returns what lets them go on. */
function holdOffersOf({ id }: OwnedWaitlist): () => void {
  const writer = service.app.get(QueueWriter);
  const submit = writer.submit.bind(writer);
  let release = () => undefined as void;
  const held = new Promise<void>((resolve) => (release = resolve));
  const spy = jest.spyOn(writer, 'submit').mockImplementation(async (waitlistId, command) => {
    if (waitlistId === id && command.kind === 'answer') await held;
    return submit(waitlistId, command);
  });
  return () => {
    spy.mockRestore();
    release();
  };
}

describe('a waitlist that is busy for minutes', () => {
  it('holds up no mail of another, and the time of its offers begins when their mails were handed over', async () => {
    const [busy, other] = [await service.world.waitlist(), await service.world.waitlist({ verification: 'optional' })];
    const ada = await service.world.signup(busy);
    const release = holdOffersOf(busy);
    await offerTo(busy, [ada]);
    await mailsTo(ada);

    const grace = await service.world.signup(other);
    await mailsTo(grace);

    expect((await waiterOf(busy, ada)).offer_expires_at).toBeNull();
    const end = await ahead(HOUR_MS / 2, () => {
      release();
      return endOf(busy, ada);
    });
    expect(Math.abs(end.getTime() - Date.now() - HOURS * HOUR_MS)).toBeLessThan(MINUTE_MS);
    await until(async () => (await statesOf(ada)).join() === 'offer sent,offer_reminder pending');
  });
});

describe('the reminder', () => {
  it('goes once, when a third of the time is left', async () => {
    const waitlist = await service.world.waitlist({ title: 'Lumen', lang: 'en' });
    const ada = await service.world.signup(waitlist);
    const [made] = await offerTo(waitlist, [ada]);
    await sent(ada);
    const end = await endOf(waitlist, ada);

    await ahead(32 * HOUR_MS - MINUTE_MS, () => settled(ada));
    expect(await statesOf(ada)).toEqual(['offer sent', 'offer_reminder pending']);
    const [, reminder] = await ahead(REMINDED_MS, () => mailsTo(ada, 2));
    const { subject, text, leaveLink } = reminder!;

    expect(subject).toBe('Your spot won’t be kept much longer: Lumen');
    expect(text).toContain(`You can accept until ${momentIn('en', end)}.`);
    expect(text).toContain(`Accept or decline:\n${made.offer_url}`);
    expect(leaveLink).not.toBeNull();
    await ahead(47 * HOUR_MS, () => settled(ada));
    await until(async () => (await statesOf(ada)).join() === 'offer sent,offer_reminder sent');
  });

  it.each(['accept', 'decline'])('does not go after an answer: %s', async (answer) => {
    const waitlist = await service.world.waitlist();
    const ada = await service.world.signup(waitlist);
    await offerTo(waitlist, [ada]);
    const [{ offerLink }] = await mailsTo(ada);
    await sent(ada);

    await pressButton(service.api, `${offerLink}/${answer}`);

    await ahead(REMINDED_MS, () => settled(ada));
    expect(await statesOf(ada)).toEqual(['offer sent', 'offer_reminder dropped']);
  });

  it('of an earlier offer does not go for a later one', async () => {
    const waitlist = await service.world.waitlist();
    const ada = await service.world.signup(waitlist);
    await offerTo(waitlist, [ada], 3);
    await sent(ada);
    await bringBack(waitlist, ada);

    await offerTo(waitlist, [ada]);
    await sent(ada, 2);
    await ahead(2 * HOUR_MS + MINUTE_MS, () => settled(ada));

    expect(await statesOf(ada)).toEqual([
      'offer sent',
      'offer_reminder dropped',
      'offer sent',
      'offer_reminder pending',
    ]);
  });
});

describe('a mail for people who are let in', () => {
  it('goes to those who accept, not to those who decline or let an offer expire', async () => {
    const waitlist = await service.world.waitlist({ mail_on_offboarding: true });
    const [accepts, declines, waits] = (await service.world.signups(waitlist, 3)) as [Person, Person, Person];
    await offerTo(waitlist, [accepts, declines, waits]);
    for (const [person, answer] of [
      [accepts, 'accept'],
      [declines, 'decline'],
    ] as const)
      await pressButton(service.api, `${(await mailsTo(person))[0].offerLink}/${answer}`);
    await mailsTo(waits);
    await endOf(waitlist, waits);

    await sweepAhead((HOURS + 1) * HOUR_MS, waitlist, waits);

    expect((await mailsTo(accepts, 2))[1]!.subject).toContain('It’s your turn');
    expect(await waiterOf(waitlist, waits)).toMatchObject({ status: 'offboarded', removed_reason: 'expired' });
    const mails = service.app.get(DataSource).getRepository(MailEntity);
    const turns = await mails.findBy({ waitlistId: waitlist.id, kind: 'your_turn' });
    expect(turns.map(({ waiterUuid }) => waiterUuid)).toEqual([accepts.uuid]);
  });
});

describe('while the mail server is away', () => {
  beforeEach(() => service.mail.stop());

  async function comeBack(): Promise<void> {
    await service.mail.listen();
    service.app.get(MailDispatcher).wake();
  }

  it('an offer waits for its mail, and can be accepted', async () => {
    const waitlist = await service.world.waitlist();
    const ada = await service.world.signup(waitlist);

    const [made] = await offerTo(waitlist, [ada]);
    const path = made.offer_url!.replace(BASE, '');
    const page = await service.api.get(path);
    const accepted = await pressButton(service.api, `${path}/accept`);

    expect(page.text).toContain('A spot is open for you');
    expect(page.text).not.toMatch(/\sUTC/);
    expect(accepted.status).toBe(303);
    await comeBack();
    await settled(ada);
    expect(await statesOf(ada)).toEqual(['offer dropped']);
  });

  it('its time begins a day after it was made, and ends; then no mail goes out', async () => {
    const waitlist = await service.world.waitlist();
    const ada = await service.world.signup(waitlist);
    await offerTo(waitlist, [ada], 1);

    await sweepAhead(24 * HOUR_MS - MINUTE_MS, waitlist, ada);
    expect((await waiterOf(waitlist, ada)).offer_expires_at).toBeNull();
    await sweepAhead(24 * HOUR_MS + MINUTE_MS, waitlist, ada);
    const end = await endOf(waitlist, ada);
    await sweepAhead(25 * HOUR_MS + MINUTE_MS, waitlist, ada);

    expect(Math.abs(end.getTime() - Date.now() - 25 * HOUR_MS)).toBeLessThan(MINUTE_MS);
    expect(await waiterOf(waitlist, ada)).toMatchObject({ status: 'offboarded', removed_reason: 'expired' });
    await comeBack();
    await ahead(26 * HOUR_MS, () => settled(ada));
    expect((await statesOf(ada)).every((state) => state.endsWith('dropped'))).toBe(true);
    expect(service.mail.arrived.filter(({ to }) => to[0]!.address === ada.email)).toEqual([]);
  });

  it('its mail goes out late with the end that holds, and then needs no reminder', async () => {
    const waitlist = await service.world.waitlist();
    const ada = await service.world.signup(waitlist);
    await offerTo(waitlist, [ada], 3);
    await sweepAhead(24 * HOUR_MS + MINUTE_MS, waitlist, ada);
    const end = await endOf(waitlist, ada);

    const [{ text }] = await ahead(26 * HOUR_MS + MINUTE_MS, async () => {
      await comeBack();
      const mails = await mailsTo(ada);
      await settled(ada);
      return mails;
    });

    expect(text).toContain(`You can accept until ${momentIn('en', end)}.`);
    expect(await endOf(waitlist, ada)).toEqual(end);
    await until(async () => (await statesOf(ada)).join() === 'offer sent,offer_reminder dropped');
  });

  it('each person gets one mail of the offers that waited, with the newest link', async () => {
    const waitlist = await service.world.waitlist();
    const ada = await service.world.signup(waitlist);
    await offerTo(waitlist, [ada]);
    await bringBack(waitlist, ada);
    await offerTo(waitlist, [ada]);
    const { body } = await service.api.post(`/api/v1/signup/${ada.uuid}/offer_link`, {}, waitlist.owner);

    await comeBack();

    const [{ offerLink }, ...others] = await mailsTo(ada);
    await settled(ada);
    expect([`${BASE}${offerLink}`, others]).toEqual([(body as { offer_url: string }).offer_url, []]);
    expect(service.mail.arrived.filter(({ to }) => to[0]!.address === ada.email)).toHaveLength(1);
  });

  it('somebody who was let in twice gets one mail about it', async () => {
    const waitlist = await service.world.waitlist({ mail_on_offboarding: true });
    const ada = await service.world.signup(waitlist);
    const letIn = async () => service.world.offboard(waitlist, [await service.world.idOf(waitlist, ada)]);
    await letIn();
    await bringBack(waitlist, ada);
    await letIn();

    await comeBack();

    const mails = service.app.get(DataSource).getRepository(MailEntity);
    const states = async () =>
      (await mails.find({ where: { waiterUuid: ada.uuid }, order: { id: 'ASC' } })).map(({ status }) => status);
    await until(async () => (await states()).join() === 'dropped,sent');
    expect(await mailsTo(ada)).toHaveLength(1);
  });
});
