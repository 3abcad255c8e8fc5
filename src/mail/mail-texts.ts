import { textsInLanguage } from '../../web/page/catalogs.js';
import { momentIn } from '../../web/page/moment.js';
import { DEFAULT_TEXTS, type Texts } from '../../web/page/texts.js';
import type { MemberMailKind } from '../outbox/member-mail.entity.js';
import { endOf } from '../queue/offers/offer.js';
import { nonBlank } from '../queue/record/contact.js';
import { referralLink } from '../queue/record/referral-link.js';
import { fillIn, type Mails, type PlaceholderValues, type WordedMail } from '../queue/settings/mail-words.js';
import { offerRules } from '../queue/settings/offer-rules.js';
import type { WholeWaitlist } from '../queue/settings/waitlist.table.js';
import type { Content, LeaveFooter } from './mail-layout.js';
import { MEMBER_TEXTS } from './member-texts.js';

/** The settings that mails show, and the owner's words. */
export interface MailedWaitlist extends Pick<
  WholeWaitlist,
  'name' | 'display' | 'offers' | 'spotsPerReferral' | 'verification' | 'hostedPage'
> {
  readonly mails: Mails;
}

/** What a mail may show of its person. */
export interface Addressee {
  /** Null unless the email is verified: a stranger may have typed the name, such as an advertisement. */
  readonly firstName: string | null;
  /** From 1; null outside the queue. */
  readonly place: number | null;
}

/** Asks for a click. Contains nothing from the signup: a stranger may have typed it. */
export function verificationMail(waitlist: MailedWaitlist, place: Addressee['place'], url: string): Content {
  const texts = textsFor(waitlist);
  const { text } = texts;
  const own = {
    subject: text('mail_verification_subject', { waitlist_name: nameOf(waitlist) }),
    text: text('mail_verification'),
  };
  return compose(waitlist, texts, {
    ...worded(waitlist, texts, 'verification', { firstName: null, place }, url, own),
    button: { label: text('verify_button'), url },
    note: text('mail_verification_note'),
  });
}

/** What a welcome holds besides its text. */
export interface Welcomed extends Addressee {
  readonly privatePage: string;
  readonly referralLink: string;
}

/** Tells a person that they have entered the queue. */
export function welcomeMail(waitlist: MailedWaitlist, person: Welcomed): Content {
  const texts = textsFor(waitlist);
  const { text } = texts;
  const { privatePage, referralLink } = person;
  return compose(waitlist, texts, {
    ...worded(waitlist, texts, 'welcome', person, privatePage, ownWelcome(waitlist, texts, person)),
    button: { label: text('mail_welcome_button'), url: privatePage },
    links: [{ label: text('referral_link'), url: referralLink }],
    note: '',
  });
}

/** The same, and asks for a click. */
export function signupMail(waitlist: MailedWaitlist, person: Welcomed, url: string): Content {
  const texts = textsFor(waitlist);
  const { text } = texts;
  const { privatePage, referralLink } = person;
  const unnamed = { ...person, firstName: null };
  const own = ownWelcome(waitlist, texts, person);
  const { subject, paragraphs } = worded(waitlist, texts, 'welcome', unnamed, privatePage, own);
  const { paragraphs: asked } = verificationMail(waitlist, person.place, url);
  return compose(waitlist, texts, {
    subject,
    // One greeting is enough.
    paragraphs: [...paragraphs, ...asked.slice(1)],
    button: { label: text('verify_button'), url },
    links: [
      { label: text('private_page'), url: privatePage },
      { label: text('referral_link'), url: referralLink },
    ],
    note: text('mail_verification_note'),
  });
}

function ownWelcome(
  waitlist: MailedWaitlist,
  { text, count }: Texts,
  { place }: Addressee,
): { readonly subject: string; readonly text: string } {
  const { spotsPerReferral } = waitlist;
  const placed = place === null ? text('joined') : text('mail_welcome', { place });
  return {
    subject: text('mail_welcome_subject', { waitlist_name: nameOf(waitlist) }),
    text: [placed, ...(spotsPerReferral > 0 ? [count('spots', spotsPerReferral)] : [])].join('\n\n'),
  };
}

/** What the mails of an open offer hold. */
export interface Offered extends Addressee {
  /** The page of the offer. */
  readonly url: string;
  /** When the offer ends; null if it never does. */
  readonly until: Date | null;
}

/** Has the link by which a person accepts an offer or declines it. */
export function offerMail(waitlist: MailedWaitlist, offered: Offered): Content {
  const texts = textsFor(waitlist);
  const { text } = texts;
  const own = { subject: text('mail_offer_subject', { waitlist_name: nameOf(waitlist) }), text: text('mail_offer') };
  return withOfferLink(waitlist, texts, offered, worded(waitlist, texts, 'offer', offered, offered.url, own));
}

/** Reminds a person of an offer that is still open. */
export function offerReminderMail(waitlist: MailedWaitlist, offered: Offered): Content {
  const texts = textsFor(waitlist);
  const { text } = texts;
  return withOfferLink(waitlist, texts, offered, {
    subject: text('mail_offer_reminder_subject', { waitlist_name: nameOf(waitlist) }),
    paragraphs: [greeting(texts, offered), ...paragraphsOf(text('mail_offer_reminder'))],
  });
}

/** A mail with the button that leads to the page of the offer, and the end of the offer. */
function withOfferLink(
  waitlist: MailedWaitlist,
  texts: Texts,
  { url, until }: Offered,
  { subject, paragraphs }: Pick<Content, 'subject' | 'paragraphs'>,
): Content {
  const { text, lang } = texts;
  return compose(waitlist, texts, {
    subject,
    // In every mail, whatever the owner's text says.
    paragraphs: [...paragraphs, ...(until ? [[text('offer_until', { until: momentIn(lang, until) })]] : [])],
    button: { label: text('mail_offer_button'), url },
    note: text('mail_offer_note'),
  });
}

/** A mail as a person may get it, with invented values. Its links lead to the page. */
export function sampleMail(waitlist: MailedWaitlist, kind: WordedMail): Content {
  const { verification, hostedPage: url } = waitlist;
  const person = { firstName: 'Ada', place: 5, privatePage: url, referralLink: referralLink(url, '7ZZ0K3M9QXVB') };
  const isVerifiedFirst = verification === 'required';
  if (kind === 'verification') return verificationMail(waitlist, isVerifiedFirst ? null : person.place, url);
  // A name is shown only if the email is verified.
  const firstName = verification === 'off' ? null : person.firstName;
  if (kind === 'offer')
    return offerMail(waitlist, { ...person, firstName, url, until: endOf(offerRules(waitlist), new Date()) });
  if (kind === 'your_turn') return yourTurnMail(waitlist, firstName);
  if (verification === 'optional') return signupMail(waitlist, person, url);
  return welcomeMail(waitlist, isVerifiedFirst ? person : { ...person, firstName: null });
}

/** Tells an offboarded person that it is their turn. */
export function yourTurnMail(waitlist: MailedWaitlist, firstName: Addressee['firstName']): Content {
  const { your_turn_url: url = null } = waitlist.display;
  const texts = textsFor(waitlist);
  const { text } = texts;
  const own = {
    subject: text('mail_your_turn_subject', { waitlist_name: nameOf(waitlist) }),
    text: text('your_turn_text'),
  };
  return compose(waitlist, texts, {
    ...worded(waitlist, texts, 'your_turn', { firstName, place: null }, url, own),
    button: url === null ? null : { label: text('your_turn_button'), url },
    note: '',
  });
}

/** Has the link to leave that somebody asked for on the private page. */
export function leaveMail(waitlist: Named, url: string): Content {
  const texts = textsFor(waitlist);
  const { text } = texts;
  return compose(waitlist, texts, {
    subject: text('mail_leave_subject', { waitlist_name: nameOf(waitlist) }),
    paragraphs: paragraphsOf(text('mail_leave')),
    button: { label: text('leave'), url },
    note: text('mail_leave_note'),
  });
}

/** What every other mail to a visitor ends with. A sample has the link to the page. */
export function leaveFooter(
  waitlist: Named & Pick<MailedWaitlist, 'hostedPage'>,
  url = waitlist.hostedPage,
): LeaveFooter {
  return { text: textsFor(waitlist).text('mail_leave_link'), url };
}

/** Tells an owner that the service has turned a webhook off. */
export function webhookDisabledMail(waitlist: Named, url: string, deskUrl: string): Content {
  return compose(waitlist, DEFAULT_TEXTS, {
    subject: filled(MEMBER_TEXTS.webhook_disabled_subject, { waitlist_name: nameOf(waitlist) }),
    paragraphs: [[MEMBER_TEXTS.webhook_disabled], [url], [MEMBER_TEXTS.webhook_disabled_note]],
    button: { label: MEMBER_TEXTS.webhook_disabled_button, url: deskUrl },
    note: '',
  });
}

function filled(text: string, values: Readonly<Record<string, string>>): string {
  return text.replace(/\{(\w+)\}/g, (_, placeholder: string) => values[placeholder] ?? '');
}

/** Whom a mail with a link goes to. */
export interface AddressedMember {
  readonly email: string;
  readonly role: string;
  /** Null until it is set. */
  readonly accountName: string | null;
}

/** A mail to a member with a link: to join, to set a new password, or to the profile. */
export function linkMail(kind: MemberMailKind, { email, role, accountName }: AddressedMember, url: string): Content {
  const name = accountName ?? MEMBER_TEXTS.service_name;
  const values = { email, role, account_name: name };
  const about = kind === 'forgotten_password' ? 'password_reset' : kind;
  const { lang, direction } = DEFAULT_TEXTS;
  return {
    lang,
    direction,
    name,
    subject: filled(MEMBER_TEXTS[`${about}_subject`], values),
    paragraphs: [[filled(MEMBER_TEXTS[kind], values)]],
    button: { label: MEMBER_TEXTS[`${about}_button`], url },
    links: [],
    note: MEMBER_TEXTS[`${about}_note`],
  };
}

/** The owner's words with their values, or ours, below our greeting. */
function worded(
  waitlist: MailedWaitlist,
  texts: Texts,
  kind: WordedMail,
  { firstName, place }: Addressee,
  link: string | null,
  own: Readonly<Pick<Content, 'subject'> & { text: string }>,
): Pick<Content, 'subject' | 'paragraphs'> {
  const values: PlaceholderValues = {
    first_name: firstName ?? '',
    place: place === null ? '' : new Intl.NumberFormat(texts.lang).format(place),
    waitlist_name: nameOf(waitlist),
    link: link ?? '',
  };
  const words = waitlist.mails[kind];
  const wordsOf = (part: string | null) => nonBlank(fillIn(kind, part ?? '', values));
  return {
    subject: wordsOf(words.subject) ?? own.subject,
    paragraphs: [greeting(texts, { firstName }), ...paragraphsOf(wordsOf(words.text) ?? own.text)],
  };
}

function greeting({ text }: Texts, { firstName }: Pick<Addressee, 'firstName'>): string[] {
  return [firstName === null ? text('mail_greeting_plain') : text('mail_greeting', { first_name: firstName })];
}

type Named = Pick<MailedWaitlist, 'name' | 'display'>;

function compose(
  waitlist: Named,
  { lang, direction }: Texts,
  content: Pick<Content, 'subject' | 'paragraphs' | 'button' | 'note'> & Partial<Content>,
): Content {
  return { links: [], ...content, lang, direction, name: nameOf(waitlist) };
}

function textsFor({ display: { lang = 'en', texts = {} } }: Named): Texts {
  return textsInLanguage({ lang, texts });
}

function nameOf({ name, display }: Named): string {
  return display.title ?? name;
}

/** Blank lines separate paragraphs. */
function paragraphsOf(text: string): string[][] {
  return text
    .replaceAll('\r\n', '\n')
    .split(/\n\s*\n/)
    .map((paragraph) => paragraph.split('\n'));
}
