/** What people read in mails, in each language, on the narrow screen of a phone. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { MailServer } from '../../test/support/mail-server.js';
import { LANGUAGES } from '../../web/page/texts.js';
import { call, checkPage, Stage } from './harness.js';

const LONG_ADDRESS = `https://example.com/${'a'.repeat(80)}`;
const SETTINGS = {
  waitlist_name: 'Lumen Early Access for Friends and Family',
  waitlist_url_location: LONG_ADDRESS,
  your_turn_url: LONG_ADDRESS,
  spots_to_move_upon_referral: 5,
  mail_on_signup: true,
  mail_on_offboarding: true,
};

let stage: Stage;
let mail: MailServer;
before(async () => {
  mail = await MailServer.start();
  stage = await Stage.open({
    SMTP_URL: mail.url,
    MAIL_FROM: 'launch@example.com',
    RATE_LIMIT_EXEMPT: '127.0.0.0/8,::1',
  });
});
after(async () => {
  await stage.close();
  await mail.stop();
});

/** The mails of a person who joins, confirms the email, and is let in; and that of one who need not confirm it. */
async function mailsIn(lang: string): Promise<Record<'verification' | 'welcome' | 'your_turn' | 'signup', string>> {
  const join = async (verification: string) => {
    const waitlist_id = await stage.waitlist({ ...SETTINGS, lang, verification });
    const email = `${lang}-${verification}@example.com`;
    await call(stage.service, 'POST', '/api/v1/signup', { body: { waitlist_id, email, first_name: 'Wilhelmina' } });
    return { waitlist_id, email, first: (await mail.mailsTo(email))[0]! };
  };
  const { waitlist_id, email, first: verification } = await join('required');
  const { status } = await fetch(`${stage.service.url}${verification.link}`, {
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded', accept: 'text/html' },
    redirect: 'manual',
  });
  assert.equal(status, 303);
  await mail.mailsTo(email, 2);
  await stage.letIn(waitlist_id, 1);
  const [, welcome, yourTurn] = await mail.mailsTo(email, 3);
  const { first: signup } = await join('optional');
  return {
    verification: String(verification.html),
    welcome: String(welcome?.html),
    your_turn: String(yourTurn?.html),
    signup: String(signup.html),
  };
}

for (const language of LANGUAGES)
  test(`each mail can be read, and fits a phone: ${language}`, async () => {
    const page = await stage.openPage({ width: 390 });
    for (const [kind, html] of Object.entries(await mailsIn(language))) {
      await page.setContent(html);
      const [lang, dir] = await page.locator('html').evaluate((root: HTMLElement) => [root.lang, root.dir]);
      assert.deepEqual([lang, dir], [language, language === 'ar' ? 'rtl' : 'ltr']);
      await checkPage(page, `mail-${language}-${kind}`, { widths: [390], schemes: ['light'] });

      const text = await page.locator('body').innerText();
      assert.doesNotMatch(text, /[{}]|undefined/);
      // A stranger may have typed the name.
      assert.equal(text.includes('Wilhelmina'), kind === 'welcome' || kind === 'your_turn');
      if (language === 'pl' && (kind === 'welcome' || kind === 'signup')) assert.match(text, /o 5 miejsc w górę/);
    }
    await page.context().close();
  });
