import { textsInLanguage } from '../../web/page/catalogs.js';
import { DEFAULT_TEXTS, type Texts } from '../../web/page/texts.js';
import { nonBlank } from '../queue/record/contact.js';
import type { WholeWaitlist } from '../queue/settings/waitlist.table.js';
import type { Content, LeaveFooter } from './mail-layout.js';
import { OWNER_TEXTS } from './owner-texts.js';

/** The settings that mails show. */
type Waitlist = Pick<WholeWaitlist, 'name' | 'display' | 'mailSubject' | 'mailText'>;

/** Asks for a click. Contains nothing from the signup: a stranger may have typed it, such as an advertisement. */
export function verificationMail(waitlist: Waitlist, url: string): Content {
  const texts = textsFor(waitlist);
  const { text } = texts;
  return compose(waitlist, texts, {
    subject: nonBlank(waitlist.mailSubject) ?? text('mail_verification_subject', { waitlist_name: nameOf(waitlist) }),
    paragraphs: paragraphsOf(nonBlank(waitlist.mailText) ?? text('mail_verification')),
    button: { label: text('verify_button'), url },
    note: text('mail_verification_note'),
  });
}

/** Tells an offboarded person that it is their turn. */
export function yourTurnMail(waitlist: Waitlist): Content {
  const { your_turn_url: url = null } = waitlist.display;
  const texts = textsFor(waitlist);
  const { text } = texts;
  return compose(waitlist, texts, {
    subject: text('mail_your_turn_subject', { waitlist_name: nameOf(waitlist) }),
    paragraphs: paragraphsOf(text('your_turn_text')),
    button: url === null ? null : { label: text('your_turn_button'), url },
    note: '',
  });
}

/** Has the link to leave that somebody asked for on the private page. */
export function leaveMail(waitlist: Waitlist, url: string): Content {
  const texts = textsFor(waitlist);
  const { text } = texts;
  return compose(waitlist, texts, {
    subject: text('mail_leave_subject', { waitlist_name: nameOf(waitlist) }),
    paragraphs: paragraphsOf(text('mail_leave')),
    button: { label: text('leave'), url },
    note: text('mail_leave_note'),
  });
}

/** What every other mail to a visitor ends with. */
export function leaveFooter(waitlist: Waitlist, url: string): LeaveFooter {
  return { text: textsFor(waitlist).text('mail_leave_link'), url };
}

/** Tells the owner of a webhook that the service has turned it off. */
export function webhookDisabledMail(waitlist: Waitlist, url: string, deskUrl: string): Content {
  return compose(waitlist, DEFAULT_TEXTS, {
    subject: OWNER_TEXTS.webhook_disabled_subject.replace('{waitlist_name}', () => nameOf(waitlist)),
    paragraphs: [[OWNER_TEXTS.webhook_disabled], [url], [OWNER_TEXTS.webhook_disabled_note]],
    button: { label: OWNER_TEXTS.webhook_disabled_button, url: deskUrl },
    note: '',
  });
}

function compose(
  waitlist: Waitlist,
  { lang, direction }: Texts,
  content: Pick<Content, 'subject' | 'paragraphs' | 'button' | 'note'>,
): Content {
  return { ...content, lang, direction, name: nameOf(waitlist) };
}

function textsFor({ display: { lang = 'en', texts = {} } }: Waitlist): Texts {
  return textsInLanguage({ lang, texts });
}

function nameOf({ name, display }: Waitlist): string {
  return display.title ?? name;
}

/** Blank lines separate paragraphs. */
function paragraphsOf(text: string): string[][] {
  return text
    .replaceAll('\r\n', '\n')
    .split(/\n\s*\n/)
    .map((paragraph) => paragraph.split('\n'));
}
