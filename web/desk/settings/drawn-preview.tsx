/** @jsxImportSource preact */
import { render } from 'preact';
import type { Leader, Place, PublicWaitlist, Status } from '../../page/model';
import { formFields } from '../../page/form-fields';
import { Header } from '../../page/header';
import pageCss from '../../page/page.css?inline';
import { LeaveForm, Left } from '../../page/leave-form';
import { OfferForm } from '../../page/offer-form';
import { OtherPage } from '../../page/other-page';
import { PrivatePage } from '../../page/private-page';
import { SignupForm } from '../../page/signup-form';
import { StatusView } from '../../page/status';
import { type Catalog, type Texts, textsOf } from '../../page/texts';
import { themeOf } from '../../page/theme';
import { VerifyForm } from '../../page/verify-form';
import widgetCss from '../../widget/widget.css?inline';
import { sendsMail } from '../environment';
import type { Waitlist } from '../queries';

export type PreviewTarget = 'page' | 'widget';
export type PreviewState =
  | 'form'
  | 'faults'
  | 'mail'
  | 'verify'
  | 'unverified'
  | 'joined'
  | 'leaving'
  | 'left'
  | 'offer'
  | 'accepted'
  | 'turn'
  | 'offered'
  | 'declined'
  | 'closed';

/** With two settings that only the owner sees. */
export type PreviewedWaitlist = PublicWaitlist & Pick<Waitlist, 'shows_inviter' | 'hide_counts'>;

interface Previewed {
  readonly waitlist: PreviewedWaitlist;
  readonly catalog: Catalog;
  readonly target: PreviewTarget;
  readonly state: PreviewState;
  readonly scheme: 'light' | 'dark';
}

const PERSON: Status = {
  removed_reason: null,
  offer_expires_at: null,
  uuid: '01890a5d-ac96-774b-bcce-b302099a8057',
  status: 'waiting',
  verified: true,
  priority: 1203,
  amount_referred: 2,
  referral_link: 'https://example.com/?ref_id=EXAMPLE',
};

const OFFER_ENDS = new Date('2030-01-31T18:00:00Z');
const STATUSES: Readonly<Partial<Record<PreviewState, Status['status']>>> = {
  mail: 'pending',
  turn: 'offboarded',
  offered: 'offered',
  declined: 'offboarded',
};
const DAY_MS = 86_400_000;
const inDays = (days: number) => new Date(Date.now() + days * DAY_MS).toISOString();

/** How {@link PERSON} got there. */
function placeWith(spotsPerReferral: number): Place {
  const { priority, amount_referred: count } = PERSON;
  const spots = count * spotsPerReferral;
  const others = 172;
  return {
    status: 'waiting',
    priority,
    joined_priority: priority + spots + others,
    referrals: { count, spots },
    others,
    next_referral_priority: priority - spotsPerReferral,
    estimate: { from: inDays(20).slice(0, 10), to: inDays(34).slice(0, 10) },
    offer_expires_at: null,
  };
}

const EMAIL_ONLY = { email: 'required', phone: 'off', first_name: 'off', last_name: 'off' } as const;

const LEADERS: readonly Leader[] = [
  { first_name: 'Ada', last_name: 'L', amount_referred: 12 },
  { first_name: 'Grace', last_name: 'H', amount_referred: 7 },
  { first_name: 'Alan', last_name: 'T', amount_referred: 2 },
].map((leader, priority) => ({ ...leader, priority, email: null, phone: null }));

/** Draws the page or the widget into a document of its own. */
export function renderPreview(page: Document, { waitlist, catalog, target, state, scheme: asked }: Previewed): void {
  const texts = textsOf(waitlist, catalog);
  const { scheme: own, properties } = themeOf(waitlist.configuration_style_json);
  const { documentElement: root } = page;
  root.lang = texts.lang;
  root.dir = texts.direction;
  root.style.cssText = '';
  root.style.colorScheme = asked;
  const colors = { ...properties, 'color-scheme': own ?? asked };
  // The widget takes on the font of the page around it.
  page.body.style.cssText = target === 'page' ? '' : 'margin: 16px; font-family: system-ui, sans-serif';
  if (target === 'page') {
    page.adoptedStyleSheets = sheetsOf(page, [pageCss]);
    for (const [name, value] of Object.entries(colors)) root.style.setProperty(name, value);
    render(<Card key="page" waitlist={waitlist} texts={texts} state={state} isPage />, page.body);
    return;
  }
  page.adoptedStyleSheets = [];
  const draw = (host: HTMLElement | null) => {
    if (!host) return;
    const shadow = host.shadowRoot ?? host.attachShadow({ mode: 'open' });
    shadow.adoptedStyleSheets = sheetsOf(page, [pageCss, widgetCss]);
    for (const [name, value] of Object.entries(colors)) host.style.setProperty(name, value);
    render(<Card waitlist={waitlist} texts={texts} state={state} isPage={false} />, shadow);
  };
  // A new host each time, so that earlier colors do not remain.
  drawings += 1;
  render(<div key={`widget ${drawings}`} ref={draw} />, page.body);
}
let drawings = 0;

/** A style sheet belongs to the window whose constructor made it. */
function sheetsOf({ defaultView }: Document, texts: readonly string[]): CSSStyleSheet[] {
  const { CSSStyleSheet: Sheet } = defaultView as Window & typeof globalThis;
  return texts.map((text) => {
    const sheet = new Sheet();
    sheet.replaceSync(text);
    return sheet;
  });
}

interface CardProps extends Pick<Previewed, 'waitlist' | 'state'> {
  readonly texts: Texts;
  readonly isPage: boolean;
}

function Card({ waitlist, texts, state, isPage }: CardProps) {
  const isForm = state === 'form' || state === 'faults' || state === 'closed';
  return (
    <main class="waitlist-card">
      {/* Private pages have none. */}
      {isPage && isForm && waitlist.logo !== null && <img class="waitlist-logo" src={waitlist.logo} alt="" />}
      {isForm ? (
        <Form
          waitlist={{ ...waitlist, is_closed: state === 'closed' }}
          texts={texts}
          hasFaults={state === 'faults'}
          isPage={isPage}
        />
      ) : state === 'verify' ? (
        <VerifyForm waitlist={waitlist} action="" texts={texts} />
      ) : state === 'leaving' ? (
        <LeaveForm waitlist={waitlist} action="" texts={texts} />
      ) : state === 'left' ? (
        <Left waitlist={waitlist} texts={texts} />
      ) : state === 'offer' || state === 'accepted' ? (
        <OfferForm
          waitlist={waitlist}
          state={state === 'offer' ? 'open' : state}
          until={OFFER_ENDS}
          path=""
          privatePage=""
          texts={texts}
        />
      ) : (
        <Joined waitlist={waitlist} texts={texts} state={state} isPage={isPage} />
      )}
    </main>
  );
}

interface FormProps extends Pick<CardProps, 'waitlist' | 'texts' | 'isPage'> {
  readonly hasFaults: boolean;
}

function Form({ waitlist, texts, hasFaults, isPage }: FormProps) {
  // An email that is none, and nothing else.
  const faults = formFields(waitlist, texts).flatMap(({ name, isRequired }) =>
    name === 'email' || isRequired ? { field: name, rule: name === 'email' ? 'format' : 'required', message: '' } : [],
  );
  const { text, count } = texts;
  const note = [
    waitlist.shows_inviter && text('invited_by', { name: LEADERS[0]!.first_name }),
    !waitlist.hide_counts && count('in_line', PERSON.priority + 1),
  ];
  return (
    <>
      <Header
        waitlist={waitlist}
        texts={texts}
        showsTitle={isPage || !waitlist.remove_widget_headers}
        note={isPage ? note.filter(Boolean).join(' ') : ''}
      />
      <SignupForm
        waitlist={waitlist}
        texts={texts}
        action=""
        {...(hasFaults && { faults, values: { email: 'name@example' } })}
      />
      {isPage && !waitlist.is_closed && <OtherPage href="#" label={text('already_joined')} />}
    </>
  );
}

function Joined({ waitlist, texts, state, isPage }: CardProps) {
  const isUnverified = state === 'unverified';
  const shown = {
    // Those who have not confirmed are asked to only where confirmation is on.
    waitlist: isUnverified ? { ...waitlist, uses_signup_verification: true, required_contact: EMAIL_ONLY } : waitlist,
    status: {
      ...PERSON,
      verified: !isUnverified,
      status: STATUSES[state] ?? 'waiting',
      removed_reason: state === 'declined' ? state : null,
      offer_expires_at: state === 'offered' ? inDays(2) : null,
    },
    leaders: waitlist.uses_leaderboard ? LEADERS : [],
    texts,
    resend: { action: '', outcome: null },
    address: 'name@example.com',
  };
  if (!isPage) return <StatusView {...shown} />;
  // The contact is for those whom no mail can reach.
  const canMail = sendsMail && waitlist.required_contact.email !== 'off';
  const leave = canMail ? { action: '', isSent: false } : null;
  const place = placeWith(waitlist.spots_to_move_upon_referral);
  return <PrivatePage {...shown} place={place} ownIndex={LEADERS.length - 1} leave={leave} />;
}
