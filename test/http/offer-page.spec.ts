import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { OfferSweeper } from '../../src/queue/maintenance/offer-sweeper.js';
import type { OfferDto, OfferedWaiterDto } from '../../src/waiter/offer.dto.js';
import type { WaiterDto } from '../../src/waiter/waiter.dto.js';
import type { CreateWaitlistDto } from '../../src/waitlist/waitlist.dto.js';
import type { Answer } from '../support/api.js';
import { ahead } from '../support/clock.js';
import { documentOf, pressButton, statusPath, textOf, within } from '../support/page.js';
import { type Service, startService } from '../support/service.js';
import type { OwnedWaitlist, Person } from '../support/world.js';

const HOUR_MS = 3_600_000;
const BASE = 'https://example.com/lists';
const PRODUCT = 'https://app.example';
const ANSWERS = ['accept', 'decline'] as const;

let service: Service;
beforeAll(async () => {
  service = await startService({ environment: { PUBLIC_BASE_URL: BASE } });
});
afterAll(() => service.stop());

const open = (path: string): Promise<Answer> => service.api.get(path);
const press = (path: string, answer: (typeof ANSWERS)[number]): Promise<Answer> =>
  pressButton(service.api, `${path}/${answer}`);
const actionsOf = (answer: Answer) =>
  [...documentOf(answer).querySelectorAll('form')].map((form) => within(form.getAttribute('action')));
const codeOf = (path: string) => path.split('/').at(-1)!;
const linkOf = (url: string | undefined) => url!.replace(BASE, '');

interface Offered {
  readonly waitlist: OwnedWaitlist;
  readonly person: Person;
  /** The path of the page. */
  readonly path: string;
}

async function offerTo(waitlist: OwnedWaitlist, person: Person, hours: number | null = 48): Promise<string> {
  const body = { signups: [{ uuid: person.uuid }], hours };
  const { body: made } = await service.api.post(`/api/v1/waitlist/${waitlist.id}/offer`, body, waitlist.owner);
  return linkOf((made as OfferedWaiterDto[])[0]!.offer_url);
}

async function offered(settings: Partial<CreateWaitlistDto> = {}, hours: number | null = 48): Promise<Offered> {
  const waitlist = await service.world.waitlist(settings);
  const [person] = await service.world.signups(waitlist, 2);
  return { waitlist, person, path: await offerTo(waitlist, person, hours) };
}

async function check({ waitlist, path }: Offered): Promise<OfferDto> {
  return (await service.api.post('/api/v1/offer/check', { code: codeOf(path) }, waitlist.owner)).body as OfferDto;
}

const bringBack = ({ waitlist, person: { uuid } }: Offered) =>
  service.api.post(`/api/v1/waitlist/${waitlist.id}/return`, { signups: [{ uuid }] }, waitlist.owner);
const erase = ({ waitlist, person: { uuid } }: Offered) =>
  service.api.call('DELETE', '/api/v1/signup', { waitlist_id: waitlist.id, signups: [{ uuid }] }, waitlist.owner);

describe('the page of an offer', () => {
  it('has two buttons, and says until when; nobody keeps it, and it is there for a private list too', async () => {
    const offer = await offered({ is_public: false, title: 'Lumen', offers: { url: `${PRODUCT}/in` } });

    const page = await open(offer.path);

    expect(page.status).toBe(200);
    expect(page.headers).toMatchObject({ 'cache-control': 'no-store', 'x-robots-tag': 'noindex' });
    expect(textOf(page, 'title')).toBe('A spot is open for you – Lumen');
    expect(textOf(page)).toMatch(/You can accept until \w+ \d+, \d{4} at \d+:\d\d [AP]M UTC\./);
    expect(actionsOf(page)).toEqual([`${offer.path}/accept`, `${offer.path}/decline`]);
    expect([...documentOf(page).querySelectorAll('button')].map(({ textContent }) => textContent)).toEqual([
      'Accept',
      'Decline',
    ]);
    expect(page.text).not.toContain(offer.person.email);
  });

  it('is in the language of the waitlist, and names no end where there is none', async () => {
    const [ends, stays] = [await offered({ lang: 'de' }), await offered({ lang: 'de' }, null)];

    expect(textOf(await open(ends.path))).toMatch(/Du kannst bis \d+\. \S+ \d{4} um \d\d:\d\d UTC annehmen\./);
    const page = await open(stays.path);
    expect([textOf(page, 'h1'), documentOf(page).documentElement.lang]).toEqual(['Ein Platz ist für dich frei', 'de']);
    expect(textOf(page)).not.toContain('UTC');
  });

  it('accepts nothing by itself, because mail scanners follow every link', async () => {
    const offer = await offered({ is_public: false });
    const page = await open(offer.path);
    const links = [...documentOf(page).querySelectorAll('a[href]')].map((link) => link.getAttribute('href')!);

    for (const path of [offer.path, ...ANSWERS.map((answer) => `${offer.path}/${answer}`), ...links])
      for (const method of ['GET', 'HEAD'] as const) {
        const { status } = await service.api.call(method, path);
        expect([path, status]).toEqual([path, 200]);
      }

    expect(await check(offer)).toMatchObject({ state: 'open', accepted_at: null, signup: { status: 'offered' } });
  });

  it('lets its forms lead to the owner’s product, and to no other host', async () => {
    const policyOf = async (settings: Partial<CreateWaitlistDto>) => {
      const page = await open((await offered(settings)).path);
      return /form-action ([^;]+)/.exec(String(page.headers['content-security-policy']))![1];
    };

    expect(await policyOf({})).toBe("'self'");
    const start = 'https://start.example:8443';
    expect(await policyOf({ your_turn_url: `${start}/a?b` })).toBe(`'self' ${start}`);
    const both = { your_turn_url: start, offers: { url: `${PRODUCT}/in` } };
    expect(await policyOf(both)).toBe(`'self' ${PRODUCT}`);
  });
});

describe('accepting', () => {
  it.each([
    [`${PRODUCT}`, `${PRODUCT}/?offer=CODE`],
    [`${PRODUCT}/in?a=1&b=x%20y+z&c#top`, `${PRODUCT}/in?a=1&b=x%20y+z&c&offer=CODE#top`],
    [`${PRODUCT}/?offer=mine&a=1&offer`, `${PRODUCT}/?a=1&offer=CODE`],
    [`${PRODUCT}/#/in?offer=mine`, `${PRODUCT}/?offer=CODE#/in?offer=mine`],
  ])('leads to %s with the code as the last parameter', async (url, expected) => {
    const offer = await offered({ offers: { url }, your_turn_url: 'https://start.example' });

    const accepted = await press(offer.path, 'accept');

    expect([accepted.status, accepted.headers.location]).toEqual([303, expected.replace('CODE', codeOf(offer.path))]);
    expect(await check(offer)).toMatchObject({
      state: 'accepted',
      accepted_at: expect.any(String),
      signup: { removed_reason: 'accepted', removed_priority: 0 },
    });
  });

  it('leads to your_turn_url, else to the private page', async () => {
    const [turn, none] = [await offered({ your_turn_url: 'https://start.example/a' }), await offered()];

    const [toTurn, toStatus] = [await press(turn.path, 'accept'), await press(none.path, 'accept')];

    expect(toTurn.headers.location).toBe(`https://start.example/a?offer=${codeOf(turn.path)}`);
    expect(toStatus.headers.location).toBe(
      `/lists${statusPath(none.waitlist, none.person)}?offer=${codeOf(none.path)}`,
    );
    expect((await open(within(toStatus.headers.location))).status).toBe(200);
  });

  it('leads there again, from the page too, and changes nothing more; a decline is too late', async () => {
    const offer = await offered({ offers: { url: PRODUCT } });
    const first = await press(offer.path, 'accept');
    const before = await check(offer);

    const page = await open(offer.path);
    const again = await press(offer.path, 'accept');
    const declined = await press(offer.path, 'decline');

    expect([page.status, textOf(page, 'h1'), textOf(page, 'button')]).toEqual([200, 'You’ve accepted', 'Continue']);
    expect(actionsOf(page)).toEqual([`${offer.path}/accept`]);
    expect(page.headers['content-security-policy']).toContain(`form-action 'self' ${PRODUCT};`);
    expect([again.status, again.headers.location]).toEqual([303, first.headers.location]);
    expect([declined.status, textOf(declined, 'h1')]).toEqual([200, 'You’ve accepted']);
    expect(await check(offer)).toEqual(before);
  });

  it('happens once for two clicks at the same time', async () => {
    const offer = await offered({ offers: { url: PRODUCT } });

    const answers = await Promise.all([press(offer.path, 'accept'), press(offer.path, 'accept')]);

    expect(answers.map(({ status }) => status)).toEqual([303, 303]);
    const { body } = await service.api.get(`/api/v1/waitlist/${offer.waitlist.id}`, offer.waitlist.owner);
    expect(body.statistics).toMatchObject({ current_signups: 1, offered_signups: 0, offboarded_signups: 1 });
  });

  it('is done by an owner who lets the person in', async () => {
    const offer = await offered();
    const { body } = await service.api.get(`/api/v1/signup/${offer.person.uuid}`, offer.waitlist.owner);
    await service.world.offboard(offer.waitlist, [(body as WaiterDto).id]);

    expect(textOf(await open(offer.path), 'h1')).toBe('You’ve accepted');
  });
});

describe('an offer that has ended', () => {
  it('says that it was declined', async () => {
    const offer = await offered();

    const declined = await press(offer.path, 'decline');

    expect([declined.status, declined.headers.location]).toEqual([303, `/lists${offer.path}`]);
    expect(await check(offer)).toMatchObject({ state: 'declined', signup: { removed_reason: 'declined' } });
    await expectEnded(offer, 'You’ve declined');
  });

  it.each(['out', 'end'] as const)('says that it has expired, before the sweep too: %s', async (on_expiry) => {
    const offer = await offered({ offers: { on_expiry } });

    await ahead(48 * HOUR_MS, () => expectPages(offer, 'The time to accept is over'));
    expect(await check(offer)).toMatchObject({ state: 'open' });
    await ahead(48 * HOUR_MS, () => service.app.get(OfferSweeper).sweep());

    await expectEnded(offer, 'The time to accept is over');
    expect(await check(offer)).toMatchObject({
      state: 'expired',
      signup: { status: on_expiry === 'out' ? 'offboarded' : 'waiting' },
    });
  });

  it('says that it was withdrawn, and stays so when there is another', async () => {
    const offer = await offered();
    await bringBack(offer);
    await expectEnded(offer, 'This spot is no longer open');

    const next = await offerTo(offer.waitlist, offer.person);

    await expectEnded(offer, 'This spot is no longer open');
    expect(textOf(await open(next), 'h1')).toBe('A spot is open for you');
  });

  it('leads to the private page, which says more', async () => {
    const offer = await offered();
    await press(offer.path, 'decline');

    const link = documentOf(await open(offer.path)).querySelector('a')!;

    expect([link.textContent, link.getAttribute('href')]).toEqual([
      'See where I stand',
      `/lists${statusPath(offer.waitlist, offer.person)}`,
    ]);
  });

  async function expectEnded(offer: Offered, heading: string): Promise<void> {
    const before = await check(offer);
    await expectPages(offer, heading);
    expect(await check(offer)).toEqual(before);
  }

  async function expectPages(offer: Offered, heading: string): Promise<void> {
    const addresses = [offer.path, ...ANSWERS.map((answer) => `${offer.path}/${answer}`)];
    const answers = await Promise.all(addresses.map(open));
    for (const answer of ANSWERS) answers.push(await press(offer.path, answer));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
    for (const page of answers) {
      expect(textOf(page, 'h1')).toBe(heading);
      expect(documentOf(page).querySelector('form')).toBeNull();
    }
  }
});

describe('a code that leads to no offer', () => {
  it('is 404 as a plain page: unknown, of another waitlist, replaced, or of an erased person', async () => {
    const [offer, other, gone] = [await offered({ title: 'Lumen' }), await offered(), await offered()];
    const path = `/api/v1/signup/${other.person.uuid}/offer_link`;
    const { body } = await service.api.post(path, {}, other.waitlist.owner);
    await erase(gone);

    const dead = [
      `/waitlist/${offer.waitlist.id}/offer/no-code`,
      `/waitlist/${offer.waitlist.id}/offer/${codeOf(other.path)}`,
      other.path,
      gone.path,
    ];

    for (const path of dead) {
      const answers = [await open(path), await press(path, 'accept'), await press(path, 'decline')];
      for (const page of answers) {
        expect([page.status, textOf(page, 'h1')]).toEqual([404, 'This link doesn’t work anymore']);
        expect(documentOf(page).querySelector('form')).toBeNull();
      }
      expect((await service.api.call('HEAD', path)).status).toBe(404);
    }
    expect(textOf(await open(dead[0]!))).toContain('Lumen');
    expect(textOf(await open(linkOf((body as { offer_url: string }).offer_url)), 'h1')).toBe('A spot is open for you');
  });

  it('tells nothing of a private waitlist, or of one that was deleted', async () => {
    const [hidden, deleted] = [await offered({ is_public: false, title: 'Lumen' }), await offered({ title: 'Lumen' })];
    await service.api.call('DELETE', `/api/v1/waitlist/${deleted.waitlist.id}`, undefined, deleted.waitlist.owner);

    const pages = [await open(`/waitlist/${hidden.waitlist.id}/offer/no-code`), await open(deleted.path)];

    for (const page of pages) {
      expect(page.status).toBe(404);
      expect(page.text).not.toContain('Lumen');
    }
  });
});
