import { directionOf, textsOf } from '../../web/page/texts.js';
import type { WholeWaitlist } from '../queue/waitlist.table.js';
import type { Content } from './templates.js';

/** As far as the mails name it. */
type Waitlist = Pick<WholeWaitlist, 'name' | 'display' | 'mailSubject' | 'mailText'>;

/** Asks for a click. Holds nothing of the signup: a stranger may have typed the address, and a name beside it. */
export function verificationMail(waitlist: Waitlist, url: string): Content {
  const name = nameOf(waitlist);
  return compose(waitlist, {
    subject: waitlist.mailSubject ?? `Confirm your email for ${name}`,
    paragraphs: paragraphsOf(
      waitlist.mailText ?? 'Please confirm your email address. Your signup counts from then on.',
    ),
    button: { label: 'Confirm email', url },
    note: 'The link works for 72 hours. If you did not sign up, ignore this mail.',
  });
}

/** Tells a person who was offboarded. */
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
      ['What happens from now on is not sent to it. Fix the receiver, then turn the webhook on again.'],
    ],
    button: { label: 'Open the desk', url: deskUrl },
    note: '',
  });
}

function compose(
  { name, display }: Waitlist,
  content: Pick<Content, 'subject' | 'paragraphs' | 'button' | 'note'>,
): Content {
  const { lang = 'en' } = display;
  return { ...content, lang, direction: directionOf(lang), name: display.title ?? name };
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
