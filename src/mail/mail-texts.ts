import { directionOf, textsOf } from '../../web/page/texts.js';
import { nonBlank } from '../queue/record/contact.js';
import type { WholeWaitlist } from '../queue/settings/waitlist.table.js';
import type { Content } from './mail-layout.js';

/** The settings that mails show. */
type Waitlist = Pick<WholeWaitlist, 'name' | 'display' | 'mailSubject' | 'mailText'>;

/** Asks for a click. Contains nothing from the signup: a stranger may have typed it, such as an advertisement. */
export function verificationMail(waitlist: Waitlist, url: string): Content {
  const { lang = 'en', texts = {} } = waitlist.display;
  const { text } = textsOf({ lang, texts });
  return compose(waitlist, {
    subject: nonBlank(waitlist.mailSubject) ?? `Confirm your email for ${nameOf(waitlist)}`,
    paragraphs: paragraphsOf(
      nonBlank(waitlist.mailText) ?? 'Please confirm your email address. This completes your signup.',
    ),
    button: { label: text('verify_button'), url },
    note: 'The link works for 72 hours. If you did not sign up, ignore this mail.',
  });
}

/** Tells an offboarded person that it is their turn. */
export function yourTurnMail(waitlist: Waitlist): Content {
  const { lang = 'en', texts = {}, your_turn_url: url = null } = waitlist.display;
  const { text } = textsOf({ lang, texts });
  return compose(waitlist, {
    subject: `${text('your_turn')}: ${nameOf(waitlist)}`,
    paragraphs: paragraphsOf(text('your_turn_text')),
    button: url === null ? null : { label: text('your_turn_button'), url },
    note: '',
  });
}

/** Tells the owner of a webhook that the service has turned it off. */
export function webhookDisabledMail(waitlist: Waitlist, url: string, deskUrl: string): Content {
  return compose(waitlist, {
    subject: `Webhook turned off: ${nameOf(waitlist)}`,
    paragraphs: [
      ['This webhook was turned off. Its deliveries failed for five days:'],
      [url],
      ['Events from now on are not sent to it. Fix the receiver, then turn the webhook on again.'],
    ],
    button: { label: 'Open the desk', url: deskUrl },
    note: '',
  });
}

function compose(waitlist: Waitlist, content: Pick<Content, 'subject' | 'paragraphs' | 'button' | 'note'>): Content {
  const { lang = 'en' } = waitlist.display;
  return { ...content, lang, direction: directionOf(lang), name: nameOf(waitlist) };
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
