import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Answer } from '../support/api.js';
import { ahead } from '../support/clock.js';
import { PageViewService } from '../../src/waitlist/page-view.service.js';
import { documentOf, textOf, within } from '../support/page.js';
import { type Service, startService } from '../support/service.js';
import type { OwnedWaitlist } from '../support/world.js';

const FORM = 'application/x-www-form-urlencoded';
/** What Chrome and Firefox send. */
const BROWSER = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';
const HOSTILE = '<script>alert(1)</script>"\'&amp;\u202e<img src=x onerror=alert(1)>';

let service: Service;
beforeAll(async () => {
  // Behind a proxy that serves it below a path.
  service = await startService({ environment: { PUBLIC_BASE_URL: 'https://example.com/lists/' } });
});
afterAll(() => service.stop());

type Fields = Readonly<Record<string, string>> | readonly (readonly [string, string])[];

const open = (path: string): Promise<Answer> => service.api.get(path);
const post = (fields: Fields | string, accept = 'text/html,*/*;q=0.8'): Promise<Answer> =>
  service.api.post('/api/v1/signup', undefined, {
    raw: typeof fields === 'string' ? fields : new URLSearchParams(fields as Record<string, string>).toString(),
    headers: { 'content-type': FORM, accept },
  });
const namesOf = (answer: Answer): string[] =>
  [...documentOf(answer).querySelectorAll<HTMLInputElement>('input, select, textarea')].map(({ name }) => name);
const change = (waitlist: OwnedWaitlist, fields: object): Promise<Answer> =>
  service.api.patch(`/api/v1/waitlist/${waitlist.id}`, fields, { token: waitlist.owner.token });

describe('the page of a waitlist', () => {
  it('is a form in the order of the contact data and the questions, for password managers and without a script', async () => {
    const waitlist = await service.world.waitlist({
      waitlist_name: 'Launch',
      uses_firstname_lastname: true,
      questions: [
        { question_value: 'How?', optional: true, answer_value: ['By foot', 'By bike'] },
        { question_value: 'Why?', optional: false },
      ],
    });

    const answer = await open(`/waitlist/${waitlist.id}`);

    expect([answer.status, answer.headers['content-type']]).toEqual([200, 'text/html; charset=utf-8']);
    expect(
      namesOf(answer).filter(
        (name) => !/^(?:waitlist_id|referral_link|form_opened_at|website|question_ids.*)$/.test(name),
      ),
    ).toEqual(['first_name', 'last_name', 'email', 'phone', 'answers[0]', 'answers[1]']);
    const page = documentOf(answer);
    const form = page.querySelector('form')!;
    expect([form.getAttribute('method'), form.getAttribute('action')]).toEqual([
      'post',
      `/lists/api/v1/signup?waitlist_id=${waitlist.id}`,
    ]);
    const email = page.querySelector('[name=email]')!;
    expect(['type', 'autocomplete', 'inputmode'].map((name) => email.getAttribute(name))).toEqual([
      'email',
      'email',
      'email',
    ]);
    expect(page.querySelector('[name=phone]')!.getAttribute('autocomplete')).toBe('tel');
    expect(page.querySelector('[name=first_name]')!.getAttribute('autocomplete')).toBe('given-name');
    for (const input of page.querySelectorAll('input:not([type=hidden]), select, textarea'))
      expect(page.querySelector(`label[for="${input.id}"]`)).not.toBeNull();
    expect(email.hasAttribute('required')).toBe(true);
    expect(textOf(answer, 'label[for=waitlist-phone]')).toContain('(optional)');
    expect([...page.querySelectorAll('select option')].map(({ textContent }) => textContent)).toEqual([
      'Choose…',
      'By foot',
      'By bike',
    ]);
  });

  it('asks for the contact data that the waitlist requires, and no other', async () => {
    const required_contact = {
      email: 'off',
      phone: 'required',
      first_name: 'optional',
      last_name: 'required',
    } as const;
    const waitlist = await service.world.waitlist({ required_contact });

    expect(namesOf(await open(`/waitlist/${waitlist.id}`))).toEqual([
      'waitlist_id',
      'referral_link',
      'form_opened_at',
      'website',
      'last_name',
      'phone',
    ]);
  });

  it.each([
    ['required', 'optional', ['email'], ['phone']],
    ['optional', 'required', ['phone'], ['email']],
    ['optional', 'off', ['email'], []],
    ['off', 'optional', ['phone'], []],
    // Either will do.
    ['optional', 'optional', [], []],
  ] as const)(
    'with email %s and phone %s requires %j, and marks %j as optional',
    async (email, phone, required, optional) => {
      const waitlist = await service.world.waitlist({ required_contact: { email, phone } });

      const answer = await open(`/waitlist/${waitlist.id}`);

      const inputs = [...documentOf(answer).querySelectorAll<HTMLInputElement>('[name=email], [name=phone]')];
      expect(inputs.filter((input) => input.hasAttribute('required')).map(({ name }) => name)).toEqual(required);
      const isMarked = ({ id }: HTMLInputElement) => textOf(answer, `label[for=${id}]`).includes('(optional)');
      expect(inputs.filter(isMarked).map(({ name }) => name)).toEqual(optional);
    },
  );

  it('knows when it was opened, at each view anew, and again after a fault', async () => {
    const waitlist = await service.world.waitlist();
    const openedAt = (answer: Answer) =>
      documentOf(answer).querySelector('[name=form_opened_at]')!.getAttribute('value')!;
    const view = async () => openedAt(await open(`/waitlist/${waitlist.id}`));
    const before = Date.now();

    const first = await view();
    const later = await ahead(60_000, view);
    const refused = await post({ waitlist_id: String(waitlist.id), email: '', form_opened_at: first });

    expect(new Date(first).toISOString()).toBe(first);
    expect(Date.parse(first)).toBeGreaterThanOrEqual(before);
    expect(Date.parse(later) - Date.parse(first)).toBeGreaterThanOrEqual(60_000);
    expect([refused.status, openedAt(refused)]).toEqual([422, first]);
  });

  it('has a field that the style sheet hides from people, and that password managers leave alone', async () => {
    const waitlist = await service.world.waitlist();

    const page = documentOf(await open(`/waitlist/${waitlist.id}`));

    const input = page.querySelector('[name=website]')!;
    expect(['autocomplete', 'tabindex'].map((name) => input.getAttribute(name))).toEqual(['off', '-1']);
    const css = await open(within(page.querySelector('[rel=stylesheet]')!.getAttribute('href')));
    expect(css.text).toContain(`.${input.parentElement!.className}{display:none}`);
  });

  it.each([
    ['turnstile', 'https://challenges.cloudflare.com'],
    ['hcaptcha', 'https://hcaptcha.com https://*.hcaptcha.com'],
  ] as const)('allows the origins of %s where it is the captcha, on the form alone', async (provider, origins) => {
    const captcha = { provider, site_key: 'site-key', secret: 'secret' };
    const waitlist = await service.world.waitlist();
    const ada = await service.world.signup(waitlist);
    const without = await open(`/waitlist/${waitlist.id}`);
    await change(waitlist, { captcha });

    const page = await open(`/waitlist/${waitlist.id}`);
    const refused = await post({ waitlist_id: String(waitlist.id), email: 'bob@example.com' });
    const status = await open(`/waitlist/${waitlist.id}/status/${ada.uuid}`);

    for (const form of [page, refused]) {
      expect(form.headers['content-security-policy']).toContain(`script-src 'self' ${origins};`);
      expect(form.headers['content-security-policy']).toContain(`frame-src ${origins}`);
      expect(textOf(form, 'noscript')).toContain('JavaScript');
      expect(namesOf(form)).toContain('captcha_token');
      // The page's own script loads it.
      expect(documentOf(form).querySelectorAll('script')).toHaveLength(1);
    }
    expect(refused.status).toBe(422);
    const fault = documentOf(refused).querySelector('.waitlist-summary a')!.getAttribute('href')!;
    expect(documentOf(refused).querySelector(fault)!.getAttribute('aria-describedby')).toBe(`${fault.slice(1)}-fault`);
    expect(textOf(refused, `${fault}-fault`)).toBe('Please complete this check.');
    for (const other of [without, status]) {
      expect(other.headers['content-security-policy']).not.toContain(origins);
      expect(other.text).not.toContain('site-key');
    }
  });

  it('is found under a trailing slash and by HEAD, and is 404 as a page for an unknown or a private list', async () => {
    const waitlist = await service.world.waitlist();
    const hidden = await service.world.waitlist({ is_public: false });

    expect((await open(`/waitlist/${waitlist.id}/`)).status).toBe(200);
    expect(await service.api.call('HEAD', `/waitlist/${waitlist.id}`)).toMatchObject({ status: 200, text: '' });
    for (const path of ['/waitlist/9007199254740991', '/waitlist/abc', '/waitlist/0', `/waitlist/${hidden.id}`]) {
      const answer = await open(path);
      expect([answer.status, answer.headers['content-type']]).toEqual([404, 'text/html; charset=utf-8']);
      expect(textOf(answer)).toContain('Page not found');
    }
  });

  it('allows nothing but its own host, its logo and its own colors, and keeps no cookie', async () => {
    const waitlist = await service.world.waitlist({
      logo: 'https://logos.example/a.png?b=1;c',
      configuration_style_json: {
        widget_background_color: '#4937E7',
        widget_button_color: '#ffd84d',
        border_color: 'red;}body{display:none',
        status_main_color: '#12345',
        other: '#123456',
      },
    });

    const { headers, text } = await open(`/waitlist/${waitlist.id}`);

    expect(headers['content-security-policy']).toMatch(
      /^default-src 'none';base-uri 'none';form-action 'self';frame-ancestors 'none';script-src 'self';style-src 'self' 'sha256-[\w+/=]+';img-src 'self' data: https:\/\/logos\.example$/,
    );
    expect(headers).toMatchObject({ 'referrer-policy': 'no-referrer', 'x-frame-options': 'DENY' });
    expect(headers['set-cookie']).toBeUndefined();
    expect(text).toContain('--waitlist-background:#4937e7');
    expect(text).toContain('--waitlist-button-text:#000000');
    expect(text).not.toMatch(/display:none|#12345\b|#123456|<script(?! type="module" src=")|\sstyle=|\son\w+=/);
  });

  it('may be framed by the origins that its owner names', async () => {
    const waitlist = await service.world.waitlist({
      frame_origins: ['https://one.example', 'https://two.example:8443'],
    });

    const { headers } = await open(`/waitlist/${waitlist.id}`);

    expect(headers['content-security-policy']).toContain(
      'frame-ancestors https://one.example https://two.example:8443;',
    );
    expect(headers['x-frame-options']).toBeUndefined();
  });

  it('has previews for links, its language and its direction', async () => {
    const waitlist = await service.world.waitlist({
      title: 'Join us',
      lang: 'ar',
      logo: 'https://logos.example/a.png',
      texts: { introduction: 'Soon.', email: 'بريد', button: '' },
    });

    const answer = await open(`/waitlist/${waitlist.id}`);

    const page = documentOf(answer);
    const html = page.querySelector('html')!;
    expect([html.getAttribute('lang'), html.getAttribute('dir')]).toEqual(['ar', 'rtl']);
    expect(textOf(answer, 'title')).toBe('Join us');
    const meta = (name: string) => page.querySelector(`meta[property="${name}"]`)?.getAttribute('content');
    expect(['og:title', 'og:description', 'og:url', 'og:image'].map(meta)).toEqual([
      'Join us',
      'Soon.',
      `https://example.com/lists/waitlist/${waitlist.id}`,
      'https://logos.example/a.png',
    ]);
    expect(textOf(answer, 'label[for=waitlist-email]')).toContain('بريد');
  });

  it('shows hostile texts of its owner as text', async () => {
    const waitlist = await service.world.waitlist({
      waitlist_name: HOSTILE,
      title: HOSTILE,
      signup_button_title: HOSTILE.slice(0, 100),
      texts: { introduction: HOSTILE, purpose: HOSTILE },
      questions: [{ question_value: HOSTILE, optional: false, answer_value: [HOSTILE, 'b'] }],
    });

    const answer = await open(`/waitlist/${waitlist.id}`);

    const page = documentOf(answer);
    expect([...page.querySelectorAll('script')].map((script) => script.getAttribute('type'))).toEqual(['module']);
    expect(page.querySelector('img')).toBeNull();
    expect(answer.text).not.toContain('<script>alert');
    expect(textOf(answer, 'h1')).toBe(HOSTILE);
    expect(page.querySelector('h1 bdi')).not.toBeNull();
  });

  it('shows braces of its owner that stand for no value as they are', async () => {
    const introduction = 'Hi {constructor} {toString} {name}';
    const waitlist = await service.world.waitlist({ texts: { introduction } });

    expect(textOf(await open(`/waitlist/${waitlist.id}`))).toContain(introduction);
  });

  it('counts its views, but not those of HEAD', async () => {
    const waitlist = await service.world.waitlist();
    await open(`/waitlist/${waitlist.id}`);
    await open(`/waitlist/${waitlist.id}?ref_id=ABCDEF`);
    await service.api.call('HEAD', `/waitlist/${waitlist.id}`);

    await service.app.get(PageViewService).store();
    const path = `/api/v1/waitlist/${waitlist.id}/statistics`;
    const { body } = await service.api.get(path, { token: waitlist.owner.token });
    expect(body.days.at(-1).page_views).toBe(2);
  });

  it('has a stylesheet and a script that browsers keep', async () => {
    const waitlist = await service.world.waitlist();
    const { text } = await open(`/waitlist/${waitlist.id}`);

    const urls = [...text.matchAll(/(?:src|href)="\/lists(\/waitlist\/assets\/[^"]+)"/g)].map(([, url]) => url!);
    expect(urls).toHaveLength(2);
    for (const url of urls)
      expect(await open(url)).toMatchObject({
        status: 200,
        headers: { 'cache-control': 'public, max-age=31536000, immutable' },
      });
  });
});

describe('behind a referral link', () => {
  const verified = async (waitlist: OwnedWaitlist, first_name: string) => {
    const person = await service.world.signup(waitlist, { email: `${randomUUID()}@example.com`, first_name });
    const { token } = waitlist.owner;
    await service.api.patch(`/api/v1/signup/${person.uuid}`, { verified: true }, { token });
    return person;
  };
  const noteOf = async (waitlist: OwnedWaitlist, { referral_link }: { referral_link: string }) =>
    textOf(await open(`/waitlist/${waitlist.id}${new URL(referral_link).search}`), '.waitlist-header .waitlist-note');

  it('is the first name of a verified person, and how many are in line; else nothing of them', async () => {
    const waitlist = await service.world.waitlist({ shows_inviter: true });
    const nobody = { referral_link: 'https://example.com/?ref_id=ABCDEFGH' };
    expect(await noteOf(waitlist, nobody)).toBe('');
    const zoe = await verified(waitlist, " Zoë d'A-B ");
    expect(await noteOf(waitlist, zoe)).toBe("Zoë d'A-B invited you. 1 person is in line.");
    const hostile = [await verified(waitlist, '<b>Eve'), await verified(waitlist, 'a'.repeat(31))];
    const unverified = await service.world.signup(waitlist, { email: 'ada@example.com', first_name: 'Ada' });

    expect(await noteOf(waitlist, zoe)).toBe("Zoë d'A-B invited you. 4 people are in line.");
    for (const other of [...hostile, unverified, nobody])
      expect(await noteOf(waitlist, other)).toBe('4 people are in line.');
    await change(waitlist, { shows_inviter: false });
    expect(await noteOf(waitlist, zoe)).toBe('4 people are in line.');
    await change(waitlist, { hide_counts: true });
    expect(await noteOf(waitlist, zoe)).toBe('');
  });
});

describe('a form of the page', () => {
  it('joins, and leads to the private page; again, to the same one', async () => {
    const waitlist = await service.world.waitlist();
    const fields = { waitlist_id: String(waitlist.id), email: 'ada@example.com', first_name: '', phone: '' };

    const first = await post(fields);
    const second = await post(fields);

    expect([first.status, first.text]).toEqual([303, '']);
    expect(first.headers.location).toMatch(new RegExp(`^/lists/waitlist/${waitlist.id}/status/[\\da-f-]{36}$`));
    expect(second.headers.location).toBe(first.headers.location);
    const [ada] = await service.world.list(waitlist);
    expect(ada).toMatchObject({ email: 'ada@example.com', first_name: '', phone: null });
    expect(await open(within(first.headers.location))).toMatchObject({ status: 200 });
  });

  it.each([
    ['ref_id first', (token: string) => `ref_id=${token}&utm=a%20b`],
    ['another name', (token: string) => `utm=x&r=${token}`],
    ['a query that is too long to send', (token: string) => `ref_id=${token}&x=${'y'.repeat(3_000)}`],
  ])('credits the referrer of the address of its page: %s', async (_, query) => {
    const waitlist = await service.world.waitlist();
    const ada = await service.world.signup(waitlist, { email: 'ada@example.com' });
    const page = await open(`/waitlist/${waitlist.id}?${query(ada.referral_token)}`);
    const referral_link = documentOf(page).querySelector('[name=referral_link]')!.getAttribute('value')!;

    await post({ waitlist_id: String(waitlist.id), email: 'bob@example.com', referral_link });

    expect((await service.world.list(waitlist))[1]).toMatchObject({ referred_by_waiter_token: ada.referral_token });
  });

  it('answers questions by their ids, and by their order without these; a choice may be several', async () => {
    const waitlist = await service.world.waitlist({
      questions: [
        { question_value: 'How?', optional: true, answer_value: ['By foot', 'By bike', 'By boat'] },
        { question_value: 'Why?', optional: true },
      ],
    });
    const id = String(waitlist.id);

    await post([
      ['waitlist_id', id],
      ['email', 'a@example.com'],
      ['question_ids[0]', '2'],
      ['answers[0]', 'Because'],
      ['question_ids[1]', '1'],
      ['answers[1]', 'By foot'],
      ['answers[1]', 'By boat'],
    ]);
    await post({ waitlist_id: id, email: 'b@example.com', 'answers[0]': 'By bike', 'answers[1]': '' });

    const [a, b] = await service.world.list(waitlist, { questions_request: true });
    expect(a).toMatchObject({ answer_1: 'By foot, By boat', answer_2: 'Because' });
    expect(b).toMatchObject({ answer_1: 'By bike', answer_2: '' });
  });

  it('is shown anew where a question is gone', async () => {
    const waitlist = await service.world.waitlist({ questions: [{ question_value: 'Old?', optional: true }] });
    await change(waitlist, { questions: [{ question_value: 'New?', optional: true }] });

    const answer = await post({
      waitlist_id: String(waitlist.id),
      email: 'a@example.com',
      'question_ids[0]': '1',
      'answers[0]': 'x',
    });

    expect(answer.status).toBe(422);
    expect(textOf(answer, '.waitlist-summary')).toContain('The questions have changed');
    expect(textOf(answer, 'label[for=waitlist-answers-0]')).toContain('New?');
    expect(await service.world.list(waitlist)).toEqual([]);
  });

  it('is shown anew with each answer and fault at its question, though the owner has moved the questions', async () => {
    const [city, job] = [
      { question_value: 'City', optional: true },
      { question_value: 'Job', optional: false },
    ] as const;
    const waitlist = await service.world.waitlist({
      questions: [city, job, { question_value: 'Age', optional: true }],
    });
    const sent = (fields: object): Promise<Answer> =>
      post({
        waitlist_id: String(waitlist.id),
        'question_ids[0]': '1',
        'question_ids[1]': '2',
        'question_ids[2]': '3',
        ...fields,
      });
    await change(waitlist, { questions: [job, city] });

    const malformed = await sent({ email: 'nobody', 'answers[0]': 'Paris', 'answers[1]': 'Nurse', 'answers[2]': '40' });
    const missing = await sent({ email: 'ada@example.com', 'answers[0]': 'Paris', 'answers[1]': '' });

    const typed = (answer: Answer) =>
      [...documentOf(answer).querySelectorAll('textarea')].map(({ id, textContent }) => [
        textOf(answer, `label[for=${id}] bdi`),
        textContent,
      ]);
    expect([malformed.status, typed(malformed)]).toEqual([
      400,
      [
        ['Job', 'Nurse'],
        ['City', 'Paris'],
      ],
    ]);
    expect([missing.status, textOf(missing, '.waitlist-summary a')]).toEqual([422, 'Job: This is required.']);
  });

  it('stores line breaks as JSON has them, and shows each of them again', async () => {
    const waitlist = await service.world.waitlist({ questions: [{ question_value: 'Why?', optional: true }] });
    const fields = { waitlist_id: String(waitlist.id), 'answers[0]': '\r\na\r\nb' };

    const refused = await post({ ...fields, email: 'nobody' });
    await post({ ...fields, email: 'ada@example.com' });

    // The first line break after the tag is none to a browser.
    expect(refused.text).toMatch(/<textarea[^>]*>\n\na\nb<\/textarea>/);
    const [ada] = await service.world.list(waitlist, { questions_request: true });
    expect(ada).toMatchObject({ answer_1: '\na\nb' });
  });

  it('keeps metadata', async () => {
    const waitlist = await service.world.waitlist();

    await post([
      ['waitlist_id', String(waitlist.id)],
      ['email', 'a@example.com'],
      ['metadata[plan]', 'team'],
      ['metadata[tag]', 'a'],
      ['metadata[tag]', 'b'],
      ['metadata[constructor]', 'c'],
    ]);

    const [person] = await service.world.list(waitlist);
    expect(person!.metadata).toEqual({ plan: 'team', tag: ['a', 'b'], constructor: 'c' });
  });

  it('with faults is shown again: named in the title and a summary, each beside its field, with what was typed', async () => {
    const waitlist = await service.world.waitlist({
      questions: [{ question_value: 'Why?', optional: false }],
      required_contact: { first_name: 'required' },
    });
    const malformed = { waitlist_id: String(waitlist.id), email: '"><script>', phone: '12', 'answers[0]': 'kept' };

    const invalid = await post({ ...malformed, referral_link: 'https://example.com/?ref_id=ABCDEF' });
    const broken = await post({ waitlist_id: String(waitlist.id), email: 'a@example.com', 'answers[0]': '' });

    expect([invalid.status, broken.status]).toEqual([400, 422]);
    const linksOf = (answer: Answer) =>
      [...documentOf(answer).querySelectorAll('[role=alert] a')].map((link) => link.getAttribute('href')!);
    // What is missing shows at once, not only beside values that are all valid.
    expect(linksOf(invalid)).toEqual(['#waitlist-first_name', '#waitlist-email', '#waitlist-phone']);
    expect(linksOf(broken)).toEqual(['#waitlist-first_name', '#waitlist-answers-0']);
    for (const answer of [invalid, broken]) {
      expect(textOf(answer, 'title')).toMatch(/^Error: /);
      const page = documentOf(answer);
      const summary = page.querySelector('[role=alert]')!;
      expect([summary.getAttribute('tabindex'), summary.hasAttribute('autofocus')]).toEqual(['-1', true]);
      for (const link of linksOf(answer)) {
        const input = page.querySelector(link)!;
        expect(input.getAttribute('aria-invalid')).toBe('true');
        expect(page.querySelector(`#${input.getAttribute('aria-describedby')}`)!.textContent).not.toBe('');
      }
      expect(answer.headers).toMatchObject({ 'cache-control': 'no-store', 'x-robots-tag': 'noindex' });
    }
    const page = documentOf(invalid);
    expect(page.querySelector('[name=email]')!.getAttribute('value')).toBe('"><script>');
    expect(textOf(invalid, 'textarea')).toBe('kept');
    expect(page.querySelector('[name=referral_link]')!.getAttribute('value')).toContain('ref_id=ABCDEF');
    expect(await service.world.list(waitlist)).toEqual([]);
  });

  it('on a closed waitlist finds those who joined, and says that others did not', async () => {
    const waitlist = await service.world.waitlist({ questions: [{ question_value: 'Why?', optional: true }] });
    const ada = await service.world.signup(waitlist, { email: 'ada@example.com' });
    await change(waitlist, { is_closed: true });

    const page = await open(`/waitlist/${waitlist.id}`);
    const found = await post({ waitlist_id: String(waitlist.id), email: 'ada@example.com' });
    const unknown = await post({ waitlist_id: String(waitlist.id), email: 'bob@example.com' });

    expect(textOf(page)).toContain('This waitlist is closed.');
    expect(namesOf(page)).toEqual(['waitlist_id', 'email', 'phone']);
    expect(within(found.headers.location)).toBe(`/waitlist/${waitlist.id}/status/${ada.uuid}`);
    expect(unknown.status).toBe(422);
    expect(textOf(unknown)).toContain('We found no signup with these details.');
  });

  it.each([
    ['a thousand fields', (id: number) => `waitlist_id=${id}&${'a=1&'.repeat(1_000)}`, 'body'],
    ['__proto__', (id: number) => `waitlist_id=${id}&email=a@example.com&__proto__=1`, '__proto__'],
    [
      'metadata[__proto__]',
      (id: number) => `waitlist_id=${id}&email=a@example.com&metadata[__proto__]=1`,
      'metadata[__proto__]',
    ],
    ['a repeated email', (id: number) => `waitlist_id=${id}&email=a@example.com&email=b@example.com`, 'email'],
    ['metadata that is text', (id: number) => `waitlist_id=${id}&email=a@example.com&metadata=x`, 'metadata'],
    ['a broken percent-encoding', (id: number) => `waitlist_id=${id}&email=%E0%A4`, 'email'],
    ['NUL', (id: number) => `waitlist_id=${id}&email=a@example.com&first_name=%00`, 'first_name'],
    ['no waitlist', () => 'email=a@example.com', 'waitlist_id'],
    ['a waitlist that is no name', () => 'waitlist_id[]=1&email=a@example.com', 'waitlist_id'],
    ['nothing', () => '', 'waitlist_id'],
  ])('that is hostile is 400 and names the field: %s', async (_, raw, field) => {
    const waitlist = await service.world.waitlist();

    const asPage = await post(raw(waitlist.id));
    const asJson = await post(raw(waitlist.id), '*/*');

    expect([asPage.status, asPage.headers['content-type']]).toEqual([400, 'text/html; charset=utf-8']);
    expect([asJson.status, asJson.body.errors.map((fault: { field: string }) => fault.field)]).toEqual([400, [field]]);
    expect(await service.world.list(waitlist)).toEqual([]);
  });

  it('gets JSON unless it accepts pages; JSON gets JSON whatever it accepts', async () => {
    const waitlist = await service.world.waitlist();
    const fields = { waitlist_id: String(waitlist.id), email: 'ada@example.com' };

    const form = await post(fields, 'application/json');
    const json = await service.api.post('/api/v1/signup', fields, { headers: { accept: 'text/html' } });
    const refused = await service.api.post('/api/v1/signup', {}, { headers: { accept: 'text/html' } });

    expect([form.status, form.body.uuid]).toEqual([200, json.body.uuid]);
    expect([refused.status, refused.body.error_code]).toEqual([400, 'INVALID_REQUEST']);
  });

  it('has an address that leads browsers back to the page, and answers programs as it always did', async () => {
    const { id } = await service.world.waitlist();
    const [bare, path] = ['/api/v1/signup', `/api/v1/signup?waitlist_id=${id}`];
    const get = async (address: string, accept?: string) => {
      const { status, headers } = await service.api.get(address, accept === undefined ? {} : { headers: { accept } });
      return [status, headers.location];
    };

    expect(await get(path, BROWSER)).toEqual([303, `/lists/waitlist/${id}`]);
    for (const accept of [undefined, '*/*', 'application/json', 'text/html;q=0.5, application/json'])
      expect([accept, ...(await get(path, accept))]).toEqual([accept, 400, undefined]);
    for (const address of [bare, `${bare}?waitlist_id=0`, `${path}&email=`, `${path}&phone=1`])
      expect([address, ...(await get(address, BROWSER))]).toEqual([address, 400, undefined]);
    expect((await get(`${path}&uuid=${randomUUID()}`, BROWSER))[0]).toBe(404);
  });

  it('of an unknown waitlist is 404, as a page', async () => {
    const answer = await post({ waitlist_id: '9007199254740991', email: 'a@example.com', 'answers[0]': 'x' });

    expect([answer.status, answer.headers['content-type']]).toEqual([404, 'text/html; charset=utf-8']);
  });

  it('is taken by no other operation', async () => {
    const raw = 'email=owner%40example.com&password=x';
    for (const path of ['/api/v1/auth/create_tokens', '/api/v1/waiter', '/api/v1/waitlist']) {
      const { status } = await service.api.post(path, undefined, { raw, headers: { 'content-type': FORM } });
      expect([path, status]).toEqual([path, 415]);
    }
  });

  it('is taken in UTF-8 only', async () => {
    const raw = Buffer.from('waitlist_id=1&email=\xe4@example.com', 'latin1');
    const { status } = await service.api.post('/api/v1/signup', undefined, { raw, headers: { 'content-type': FORM } });

    expect(status).toBe(415);
  });
});

describe('the page of those who have joined', () => {
  const FIND = { 'content-type': FORM, accept: BROWSER };
  const find = (path: string, fields: Fields): Promise<Answer> =>
    service.api.post(path, undefined, {
      raw: new URLSearchParams(fields as Record<string, string>).toString(),
      headers: FIND,
    });
  const linkIn = (answer: Answer) => documentOf(answer).querySelector('.waitlist-other a')?.getAttribute('href');

  it('is linked on an open page, and leads to the private page by email or phone', async () => {
    const captcha = { provider: 'turnstile', site_key: 'site-key', secret: 'secret' } as const;
    const waitlist = await service.world.waitlist();
    const ada = await service.world.signup(waitlist, { email: 'ada@example.com', phone: '+12015550123' });
    await change(waitlist, { captcha, questions: [{ question_value: 'Why?', optional: true }] });

    const path = within(linkIn(await open(`/waitlist/${waitlist.id}`)));
    const page = await open(path);
    const form = documentOf(page).querySelector('form')!;
    const answers = [];
    for (const fields of [
      { email: 'Ada@Example.com' },
      { phone: '+1 201 555 0123' },
      { email: '', phone: '+12015550123' },
    ] as Fields[])
      answers.push(await find(within(form.getAttribute('action')), fields));

    expect(form.getAttribute('method')).toBe('post');
    expect(textOf(page)).toContain('Enter your signup details to see your place.');
    // No captcha either: a lookup through the API needs none.
    expect(namesOf(page)).toEqual(['waitlist_id', 'email', 'phone']);
    expect(page.headers).toMatchObject({ 'cache-control': 'no-store', 'x-robots-tag': 'noindex' });
    for (const answer of answers)
      expect([answer.status, within(answer.headers.location)]).toEqual([
        303,
        `/waitlist/${waitlist.id}/status/${ada.uuid}`,
      ]);
  });

  it('says one sentence of whoever has not joined, and names a field that is none', async () => {
    const { id } = await service.world.waitlist({ title: 'Launch' });
    const path = `/waitlist/${id}/find`;
    const empty = textOf(await open(path));

    for (const fields of [{ email: 'bob@example.com' }, { email: '' }, {}] as Fields[]) {
      const unknown = await find(path, fields);
      expect([unknown.status, textOf(unknown, 'title')]).toEqual([404, 'Error: Launch']);
      expect(textOf(unknown).replace('We found no signup with these details.', '')).toBe(empty);
    }
    const typed = documentOf(await find(path, { email: 'bob@example.com' })).querySelector('[name=email]');
    expect(typed!.getAttribute('value')).toBe('bob@example.com');
    const refused = await find(path, { email: 'nobody' });
    expect([refused.status, textOf(refused, '#waitlist-email-fault')]).toEqual([
      400,
      'Enter an email address, like name@example.com.',
    ]);
  });

  it('leads back to the page with the link of the friend who invited, also after a lookup', async () => {
    const { id, slug } = await service.world.waitlist({ slug: `friends-${randomUUID().slice(0, 8)}` });
    const path = within(linkIn(await open(`/waitlist/${slug}?ref_id=ABCDEFGH&a="<`)));

    for (const page of [await open(path), await find(path, { email: 'bob@example.com' })])
      expect(linkIn(page)).toBe(`/lists/waitlist/${slug}?ref_id=ABCDEFGH&a=%22%3C`);
    expect(path).toMatch(`/waitlist/${id}/find?`);
  });

  it('is the page of a closed waitlist, and 404 for one that is private', async () => {
    const [closed, hidden] = [
      await service.world.waitlist({ is_closed: true }),
      await service.world.waitlist({ is_public: false }),
    ];
    const ada = await service.world.signup(hidden, { email: 'ada@example.com' });

    const page = await open(`/waitlist/${closed.id}`);
    const statuses = [
      await open(`/waitlist/${hidden.id}/find`),
      await find(`/waitlist/${hidden.id}/find`, { email: ada.email }),
    ].map(({ status }) => status);

    expect([documentOf(page).querySelector('form')!.getAttribute('action'), linkIn(page)]).toEqual([
      `/lists/waitlist/${closed.id}/find`,
      undefined,
    ]);
    expect(textOf(page)).toBe(textOf(await open(`/waitlist/${closed.id}/find`)));
    expect(statuses).toEqual([404, 404]);
  });
});

describe('an unknown address', () => {
  const get = (path: string, accept: string) => service.api.get(path, { headers: { accept } });

  it.each(['/nothing', '/lists/nothing', '/waitlist', '/apis'])('%s is a page to browsers', async (path) => {
    const page = await get(path, BROWSER);
    const data = await get(path, '*/*');

    expect([page.status, page.headers['content-type']]).toEqual([404, 'text/html; charset=utf-8']);
    expect(page.headers['content-security-policy']).toContain("default-src 'none'");
    expect(textOf(page)).toContain('Page not found');
    expect([data.status, data.body.error_code]).toEqual([404, 'NOT_FOUND']);
  });

  it.each(['/api', '/api/v1/nothing', '/lists/api/v2/signup'])('%s of the API is data', async (path) => {
    const { status, body } = await get(path, BROWSER);

    expect([status, body.error_code]).toEqual([404, 'NOT_FOUND']);
  });
});

describe('the private page of a person', () => {
  const statusOf = async (waitlist: OwnedWaitlist, { uuid }: { uuid: string }): Promise<Answer> =>
    open(`/waitlist/${waitlist.id}/status/${uuid}`);

  it('shows the place from 1, the people ahead, and the link to share; no cache or search engine keeps it', async () => {
    const waitlist = await service.world.waitlist({
      logo: 'https://logos.example/a.png',
      spots_to_move_upon_referral: 3,
      widget_shows_social_links: true,
      twitter_message: 'Come along & see:',
    });
    const [ada, bob, eve] = await service.world.signups(waitlist, 3);

    const [first, second, third] = await Promise.all([ada, bob!, eve!].map((person) => statusOf(waitlist, person)));

    expect([first!.text, first!.headers['content-security-policy']].join()).not.toContain('logos.example');
    expect(textOf(first!, 'h1')).toBe('You’re number 1');
    expect(textOf(first!)).toContain('Nobody is ahead of you.');
    expect(textOf(second!)).toContain('1 person is ahead of you.');
    expect(textOf(third!, 'h1')).toBe('You’re number 3');
    expect(textOf(third!)).toContain('2 people are ahead of you.');
    expect(textOf(third!)).toContain('Each friend who joins moves you up 3 places.');
    expect(documentOf(third!).querySelector('#waitlist-link')!.getAttribute('value')).toBe(eve!.referral_link);
    const [x] = [...documentOf(third!).querySelectorAll('.waitlist-networks a')].map((link) =>
      link.getAttribute('href')!,
    );
    expect(Object.fromEntries(new URL(x!).searchParams)).toEqual({
      text: 'Come along & see:',
      url: eve!.referral_link,
    });
    expect(third!.headers).toMatchObject({
      'cache-control': 'no-store',
      'x-robots-tag': 'noindex',
      'referrer-policy': 'no-referrer',
    });
    expect(third!.text).not.toContain(eve!.email);
  });

  it('shows the leaderboard as the API does, where it is on and the list is public', async () => {
    const waitlist = await service.world.waitlist({ uses_leaderboard: true, uses_firstname_lastname: true });
    const ada = await service.world.signup(waitlist, {
      email: 'ada@example.com',
      first_name: '<b>Ada',
      last_name: 'Lovelace',
    });
    await service.world.signup(waitlist, { email: 'bob@example.com', referral_link: ada.referral_link });

    const on = await statusOf(waitlist, ada);
    await change(waitlist, { is_public: false });
    const hidden = await statusOf(waitlist, ada);

    expect([...documentOf(on).querySelectorAll('td')].map(({ textContent }) => textContent)).toEqual([
      '1',
      '<b>Ada L. (you)',
      '1',
    ]);
    expect(textOf(on)).toContain('1 friend has joined through your link.');
    expect(hidden.status).toBe(200);
    expect(documentOf(hidden).querySelector('table')).toBeNull();
  });

  it('of an offboarded person says that it is their turn, and where', async () => {
    const waitlist = await service.world.waitlist({ your_turn_url: 'https://example.com/welcome?a=1&b=2' });
    const ada = await service.world.signup(waitlist, { email: 'ada@example.com' });
    await service.world.offboard(waitlist, [await service.world.idOf(waitlist, ada)]);

    const answer = await statusOf(waitlist, ada);

    expect(textOf(answer, 'h1')).toBe('It’s your turn');
    expect(documentOf(answer).querySelector('a.waitlist-button')!.getAttribute('href')).toBe(
      'https://example.com/welcome?a=1&b=2',
    );
  });

  it('is 404, as a page, for another list, an unknown uuid and what is none', async () => {
    const [waitlist, other] = [await service.world.waitlist(), await service.world.waitlist()];
    const ada = await service.world.signup(waitlist, { email: 'ada@example.com' });

    for (const answer of [
      await statusOf(other, ada),
      await statusOf(waitlist, { uuid: randomUUID() }),
      await statusOf(waitlist, { uuid: '0' }),
    ])
      expect([answer.status, answer.headers['content-type']]).toEqual([404, 'text/html; charset=utf-8']);
  });

  it('of an erased person is 404, under the name of the waitlist, unless that is private', async () => {
    const waitlist = await service.world.waitlist({ title: 'Launch' });
    const ada = await service.world.signup(waitlist, { email: 'ada@example.com' });
    const erased = { waitlist_id: waitlist.id, signups: [{ uuid: ada.uuid }] };
    await service.api.call('DELETE', '/api/v1/signup', erased, { token: waitlist.owner.token });

    const page = await statusOf(waitlist, ada);
    await change(waitlist, { is_public: false });
    const hidden = await statusOf(waitlist, ada);

    expect([page.status, textOf(page, '.waitlist-name'), textOf(page, 'h1')]).toEqual([
      404,
      'Launch',
      'Page not found',
    ]);
    expect([hidden.status, textOf(hidden)]).toEqual([404, 'Page not foundPlease check the address.']);
  });
});

describe('under limits', () => {
  let limited: Service;
  let waitlist: OwnedWaitlist;
  beforeAll(async () => {
    limited = await startService({ environment: { RATE_LIMIT_PUBLIC: '20', RATE_LIMIT_EXEMPT: '192.0.2.1' } });
    waitlist = await limited.world.waitlist();
  });
  afterAll(() => limited.stop());

  it('pages and public operations share one limit, and 429 is a page', async () => {
    const from = '192.0.2.7';
    for (let request = 0; request < 10; request += 1) {
      expect((await limited.api.get(`/waitlist/${waitlist.id}`, { from })).status).toBe(200);
      expect((await limited.api.get(`/api/v1/waitlist/${waitlist.id}`, { from })).status).toBe(200);
    }

    const page = await limited.api.get(`/waitlist/${waitlist.id}`, { from });
    const form = await limited.api.post('/api/v1/signup', undefined, {
      from,
      raw: `waitlist_id=${waitlist.id}&email=a@example.com`,
      headers: { 'content-type': FORM, accept: 'text/html' },
    });

    for (const answer of [page, form]) {
      expect([answer.status, answer.headers['content-type']]).toEqual([429, 'text/html; charset=utf-8']);
      expect(answer.headers['retry-after']).toBeDefined();
      expect(textOf(answer)).toContain('Too many requests.');
    }
  });

  it('addresses of private pages that lead to nobody count as unsuccessful lookups', async () => {
    const from = '192.0.2.8';
    const statuses = [];
    for (let attempt = 0; attempt < 4; attempt += 1)
      statuses.push((await limited.api.get(`/waitlist/${waitlist.id}/status/${randomUUID()}`, { from })).status);

    expect(statuses).toEqual([404, 404, 429, 429]);
  });

  it('lookups by contact data count too, and beyond the limit nobody is found', async () => {
    const ada = await limited.world.signup(waitlist);
    const find = async (email: string) => {
      const raw = new URLSearchParams({ email }).toString();
      const headers = { 'content-type': FORM };
      const from = '192.0.2.10';
      const page = await limited.api.post(`/waitlist/${waitlist.id}/find`, undefined, { raw, headers, from });
      return [page.status, textOf(page, '.waitlist-summary')];
    };

    expect((await find(ada.email))[0]).toBe(303);
    for (const email of ['a@example.com', 'b@example.com'])
      expect(await find(email)).toEqual([404, 'We found no signup with these details.']);
    for (const email of ['c@example.com', ada.email])
      expect(await find(email)).toEqual([429, 'Too many requests. Please try again later.']);
  });

  it('unknown referral tokens count too, and beyond the limit the page says nothing of the inviter', async () => {
    const list = await limited.world.waitlist({ shows_inviter: true, hide_counts: true });
    const zoe = await limited.world.signup(list, { email: 'zoe@example.com', first_name: 'Zoe' });
    await limited.api.patch(`/api/v1/signup/${zoe.uuid}`, { verified: true }, { token: list.owner.token });
    const seen = async (query: string) => {
      const { status, text } = await limited.api.get(`/waitlist/${list.id}${query}`, { from: '192.0.2.9' });
      return [status, text.includes('Zoe invited you.')];
    };
    const { search } = new URL(zoe.referral_link);

    expect(await seen(search)).toEqual([200, true]);
    for (const token of ['ABCDEFGH', 'ABCDEFGJ']) expect(await seen(`?ref_id=${token}`)).toEqual([200, false]);
    expect(await seen(search)).toEqual([200, false]);
  });
});

describe('below the path of PUBLIC_BASE_URL', () => {
  it.each([
    '/',
    '/desk',
    '/docs',
    '/openapi.json',
    '/openapi-legacy.json',
    '/widget.js',
    '/api/v1/waitlist/{id}',
    '/waitlist/{id}',
  ])('%s is the same, whether a proxy removes that path or passes it on', async (pattern) => {
    const path = pattern.replace('{id}', String((await service.world.waitlist()).id));
    const seen = async (address: string) => {
      const { status, headers } = await open(address);
      return [status, headers['content-type'], headers.location];
    };

    const removed = await seen(path);
    const passedOn = await seen(`/lists${path}`);

    expect(passedOn).toEqual(removed);
    expect(removed[0]).toBeLessThan(400);
  });

  it('are the files of every page, as the page names them', async () => {
    const { id } = await service.world.waitlist();
    for (const path of ['/lists/desk', `/lists/waitlist/${id}`, '/lists/docs']) {
      const page = documentOf(await open(path));
      const addresses = [...page.querySelectorAll('script[src], link[rel=stylesheet]')].map(
        (element) => element.getAttribute('src') ?? element.getAttribute('href')!,
      );

      expect(addresses.length).toBeGreaterThan(1);
      for (const address of addresses) {
        expect(address).toMatch(/^\/lists\//);
        expect([address, (await open(address)).status]).toEqual([address, 200]);
      }
    }
  });

  it('are the forms that people send', async () => {
    const waitlist = await service.world.waitlist();
    const body = { waitlist_id: waitlist.id, email: 'ada@example.com' };

    expect((await service.api.post('/lists/api/v1/signup', body)).status).toBe(200);
  });

  it.each(['/livez', '/readyz', '/metrics'])('%s is unknown', async (path) => {
    expect((await open(`/lists${path}`)).status).toBe(404);
  });

  it('may be called as the pages of the service are', async () => {
    const { databaseUrl } = service;
    const other = await startService({
      environment: { DATABASE_URL: databaseUrl, PUBLIC_BASE_URL: 'https://example.com/waitlist' },
    });
    const { id } = await service.world.waitlist();

    const statuses = [];
    for (const path of [
      `/waitlist/${id}`,
      `/waitlist/waitlist/${id}`,
      '/waitlist',
      '/waitlist/desk',
      '/waitlist/assets/page.css',
    ])
      statuses.push((await other.api.get(path)).status);
    await other.stop();

    expect(statuses).toEqual([200, 200, 302, 200, 200]);
  });
});
