import { Header, PageName } from '../../web/page/header.js';
import type { Fault, Leader, Place, PublicWaitlist, Status, Values } from '../../web/page/model.js';
import { LeaveForm, Left } from '../../web/page/leave-form.js';
import { OfferForm, type OfferState } from '../../web/page/offer-form.js';
import { OtherPage } from '../../web/page/other-page.js';
import { PrivatePage } from '../../web/page/private-page.js';
import { SignupForm } from '../../web/page/signup-form.js';
import { headingOf } from '../../web/page/status.js';
import { VerifyForm } from '../../web/page/verify-form.js';
import { textsInLanguage } from '../../web/page/catalogs.js';
import { DEFAULT_TEXTS, type Plural, type TextKey, type Texts } from '../../web/page/texts.js';
import type { Page } from './document.js';

/** The fields of a form that has been sent, by their names. */
export interface Sent {
  readonly values: Values;
  readonly faults: readonly Fault[];
  /** Why the whole request was refused; null for the faults of its fields. */
  readonly message: TextKey | null;
}

interface FormPage {
  readonly waitlist: PublicWaitlist;
  readonly frameOrigins: readonly string[];
  readonly url: string;
  readonly action: string;
  /** The page of those who have joined. */
  readonly lookup: string;
  /** The address at which the page was opened, in which a token of the referrer may stand. */
  readonly referralLink: string;
  /** When the page was rendered, in ISO 8601. */
  readonly openedAt: string;
  readonly sent: Sent | null;
  readonly facts?: FormFacts;
}

/** The note below the title of the form. */
export interface FormFacts {
  /** The first name of the person whose link it is; null to say nothing. */
  readonly inviter: string | null;
  /** How many people are in line, as the language writes it; null to say nothing. */
  readonly inLine: { readonly plural: Plural; readonly count: string } | null;
}

/** The signup page of a waitlist, for newcomers and for the second attempt. */
export function formPage({ waitlist, referralLink, openedAt, sent, facts, ...page }: FormPage): Page {
  const texts = textsInLanguage(waitlist);
  const { text } = texts;
  const name = waitlist.title ?? waitlist.waitlist_name;
  const metadata = Object.entries(sent?.values ?? {}).filter(([key]) => key.startsWith('metadata['));
  return {
    waitlist,
    texts,
    logo: waitlist.logo,
    captcha: waitlist.captcha,
    frameOrigins: page.frameOrigins,
    title: sent ? `${text('error_prefix')} ${name}` : name,
    preview: sent ? null : { url: page.url, description: text('introduction') || text('description') },
    content: (
      <>
        <Header waitlist={waitlist} texts={texts} note={facts && noteOf(facts, texts)} />
        <SignupForm waitlist={waitlist} texts={texts} action={page.action} {...shownAgain(sent, texts)}>
          <input type="hidden" name="waitlist_id" value={waitlist.id} />
          <input type="hidden" name="referral_link" value={referralLink} />
          <input type="hidden" name="form_opened_at" value={openedAt} />
          {metadata.map(([key, value]) => (
            <input key={key} type="hidden" name={key} value={value} />
          ))}
        </SignupForm>
        <OtherPage href={page.lookup} label={text('already_joined')} />
      </>
    ),
  };
}

interface LookupPage {
  readonly waitlist: PublicWaitlist;
  readonly frameOrigins: readonly string[];
  /** The address of the signup page, for search engines and previews; null to be in none. */
  readonly url: string | null;
  readonly action: string;
  /** The signup page, for those who have not joined; null where nobody can. */
  readonly signup: string | null;
  readonly sent: Sent | null;
}

/** The form of those who have joined, which shows the way to their private page. All that a closed waitlist has. */
export function lookupPage({ waitlist, frameOrigins, url, action, signup, sent }: LookupPage): Page {
  const texts = textsInLanguage(waitlist);
  const { text } = texts;
  const name = waitlist.title ?? waitlist.waitlist_name;
  return {
    waitlist,
    texts,
    logo: waitlist.logo,
    frameOrigins,
    title: sent ? `${text('error_prefix')} ${name}` : name,
    preview: url === null ? null : { url, description: text('closed') },
    content: (
      <>
        <Header waitlist={waitlist} texts={texts} isLookup />
        {/* The form of a closed waitlist. A lookup needs no captcha. */}
        <SignupForm
          waitlist={{ ...waitlist, is_closed: true, captcha: null }}
          texts={texts}
          action={action}
          {...shownAgain(sent, texts)}
        >
          <input type="hidden" name="waitlist_id" value={waitlist.id} />
        </SignupForm>
        {signup !== null && <OtherPage href={signup} label={waitlist.signup_button_title ?? text('button')} />}
      </>
    ),
  };
}

function shownAgain(sent: Sent | null, { text }: Texts) {
  return { values: sent?.values, faults: sent?.faults, message: sent?.message && text(sent.message) };
}

function noteOf({ inviter, inLine }: FormFacts, { text, counted }: Texts): string {
  const lines = [
    inviter === null ? '' : text('invited_by', { name: inviter }),
    inLine === null ? '' : counted('in_line', inLine.plural, inLine.count),
  ];
  return lines.filter((line) => line !== '').join(' ');
}

/** A page that neither search engines nor other pages show. */
const UNSHARED = { logo: null, frameOrigins: [], preview: null } as const;

interface StatusPage {
  readonly waitlist: PublicWaitlist;
  readonly frameOrigins: readonly string[];
  readonly status: Status;
  readonly place: Place;
  /** The address of the live place; null if the page does not follow it. */
  readonly events: string | null;
  readonly leaders: readonly Leader[];
  /** The index of the person among the leaders; undefined if they are none. */
  readonly ownIndex: number | undefined;
  /** The form action of the button that sends another mail; null if no mail can reach the person. */
  readonly resendAction: string | null;
  readonly isResent: boolean;
  /** The form action of the button that mails a link to leave; null if no mail can reach the person. */
  readonly leaveAction: string | null;
  readonly isLeaveSent: boolean;
}

/** The private page of a person who joined. */
export function statusPage(page: StatusPage): Page {
  const { waitlist, frameOrigins, resendAction, isResent, leaveAction, isLeaveSent, ...person } = page;
  const texts = textsInLanguage(waitlist);
  const outcome = isResent ? texts.text('resent') : null;
  const resend = resendAction === null ? undefined : { action: resendAction, outcome };
  const leave = leaveAction === null ? null : { action: leaveAction, isSent: isLeaveSent };
  return {
    ...UNSHARED,
    waitlist,
    texts,
    frameOrigins,
    isLive: person.events !== null,
    title: `${headingOf(waitlist, person.status, texts)} – ${waitlist.title ?? waitlist.waitlist_name}`,
    content: <PrivatePage waitlist={waitlist} {...person} texts={texts} resend={resend} leave={leave} />,
  };
}

interface VerifyPage {
  readonly waitlist: PublicWaitlist;
  readonly action: string;
  /** Whether the link has confirmed the email already. */
  readonly isUsed: boolean;
}

/** The page of a verification link. */
export function verifyPage({ waitlist, action, isUsed }: VerifyPage): Page {
  const texts = textsInLanguage(waitlist);
  return {
    ...UNSHARED,
    waitlist,
    texts,
    title: `${texts.text(isUsed ? 'verified' : 'verify')} – ${waitlist.title ?? waitlist.waitlist_name}`,
    content: <VerifyForm waitlist={waitlist} action={action} isUsed={isUsed} texts={texts} />,
  };
}

/** The page of a link to leave. */
export function leavePage(waitlist: PublicWaitlist, action: string): Page {
  const texts = textsInLanguage(waitlist);
  return {
    ...UNSHARED,
    waitlist,
    texts,
    title: `${texts.text('leave')} – ${waitlist.title ?? waitlist.waitlist_name}`,
    content: <LeaveForm waitlist={waitlist} action={action} texts={texts} />,
  };
}

/** The same once the person is off the list. */
export function leftPage(waitlist: PublicWaitlist): Page {
  const texts = textsInLanguage(waitlist);
  return {
    ...UNSHARED,
    waitlist,
    texts,
    title: `${texts.text('left')} – ${waitlist.title ?? waitlist.waitlist_name}`,
    content: <Left waitlist={waitlist} texts={texts} />,
  };
}

interface OfferPage {
  readonly waitlist: PublicWaitlist;
  readonly state: OfferState;
  readonly until: Date | null;
  readonly path: string;
  readonly privatePage: string;
  /** Where an acceptance leads: an address, or a path of this host. */
  readonly destination: string;
}

/** The page of an offer: its two buttons, or what became of it. */
export function offerPage({ waitlist, destination, ...offer }: OfferPage): Page {
  const texts = textsInLanguage(waitlist);
  return {
    ...UNSHARED,
    waitlist,
    texts,
    formOrigins: URL.canParse(destination) ? [new URL(destination).origin] : [],
    title: `${texts.text(`offer_${offer.state}`)} – ${waitlist.title ?? waitlist.waitlist_name}`,
    content: <OfferForm waitlist={waitlist} texts={texts} {...offer} />,
  };
}

export type DeadLink = 'link_not_found_text' | 'leave_link_not_found_text' | 'offer_not_found_text';

/** The page of a link in a mail that is wrong, has expired or has ended. `lookup` finds those who joined. */
export function linkNotFoundPage(waitlist: PublicWaitlist, more: DeadLink, lookup: string): Page {
  const { is_closed: isClosed, sends_mail: sendsMail, waitlist_url_location: signup } = waitlist;
  const isVerification = more === 'link_not_found_text';
  if (isVerification && sendsMail && !isClosed)
    return messagePage('link_not_found', more, waitlist, { href: signup, label: 'link_not_found_button' });
  const text = isVerification ? 'link_not_found_closed_text' : more;
  // Without mail, nothing can send a new link. The private page says so.
  return messagePage('link_not_found', sendsMail ? text : null, waitlist, { href: lookup, label: 'find_button' });
}

interface LinkTo {
  readonly href: string;
  readonly label: TextKey;
}

/** A page that only says something, on its own or of a waitlist. */
export function messagePage(
  heading: TextKey,
  more: TextKey | null,
  waitlist: PublicWaitlist | null = null,
  link: LinkTo | null = null,
): Page {
  const texts = waitlist ? textsInLanguage(waitlist) : DEFAULT_TEXTS;
  const { text } = texts;
  return {
    ...UNSHARED,
    waitlist,
    texts,
    title: text(heading),
    content: (
      <>
        {waitlist && <PageName waitlist={waitlist} />}
        <div class="waitlist-header waitlist-message">
          <h1 class="waitlist-title">{text(heading)}</h1>
          {more !== null && <p class="waitlist-introduction">{text(more)}</p>}
        </div>
        {link && (
          <a class="waitlist-button" href={link.href}>
            {text(link.label)}
          </a>
        )}
      </>
    ),
  };
}
