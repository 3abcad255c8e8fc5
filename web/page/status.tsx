/** @jsxImportSource preact */
import type { ComponentChildren, SubmitEventHandler } from 'preact';
import type { Leader, PublicWaitlist, Status } from './model.js';
import type { Texts } from './texts.js';
import { isolated } from './typed-address.js';

/** The button that sends the mail of the verification again, or a new link of an offer. */
export interface Resend {
  /** Where it leads without a script. */
  readonly action: string;
  /** What became of the last request; null before the first. */
  readonly outcome: string | null;
  /** While a script sends the request. */
  readonly isBusy?: boolean;
  readonly onSubmit?: SubmitEventHandler<HTMLFormElement>;
}

export interface StatusProps {
  readonly waitlist: PublicWaitlist;
  readonly status: Status;
  /** Empty where the leaderboard is off, or nobody is on it. */
  readonly leaders: readonly Leader[];
  /** The index of the person among the leaders; omitted if they are none, or the widget does not know. */
  readonly ownIndex?: number | undefined;
  readonly texts: Texts;
  /** Omitted if there is no email to send to, or the widget does not know it. */
  readonly resend?: Resend | undefined;
  /** What the page says of an open offer. Omitted in the widget. */
  readonly offer?: ComponentChildren;
  /** How the place came about. Omitted in the widget. */
  readonly explanation?: ComponentChildren;
  /** The email as it was typed, where the page knows it; the server's pages do not. */
  readonly address?: string | undefined;
  /** Within another page, `h2`. */
  readonly heading?: 'h1' | 'h2';
}

/** The place of a person who joined, and the link to share. */
export function StatusView(props: StatusProps) {
  const { waitlist, status, leaders, ownIndex, texts, resend, explanation, heading: Heading = 'h1' } = props;
  if (isOffered(status) || isTurnedAway(status)) return <Offered {...props} />;
  if (status.status === 'offboarded') return <YourTurn {...props} />;
  if (status.status === 'pending') return <CheckMail {...props} />;
  const { text, count } = texts;
  // A status does not tell whether the person has an email. If the waitlist requires one, they do.
  const hasEmail = waitlist.required_contact.email === 'required';
  const isUnverified = waitlist.uses_signup_verification && hasEmail && !status.verified;
  const { sends_mail: sendsMail = true } = waitlist;
  return (
    <div class="waitlist-status">
      <p class="waitlist-joined">{waitlist.success_title ?? text('joined')}</p>
      <Heading class="waitlist-place">{text('place', { place: status.priority + 1 })}</Heading>
      <p class="waitlist-ahead">{status.priority === 0 ? text('nobody_ahead') : count('ahead', status.priority)}</p>
      {waitlist.uses_signup_verification && status.verified && <p class="waitlist-verified">{text('verified')}</p>}
      {isUnverified && !sendsMail && <p class="waitlist-note">{text('no_mail_text')}</p>}
      {isUnverified && sendsMail && resend && (
        <ResendForm {...resend} hint={text('unverified')} button={text('send_link')} />
      )}
      {explanation}
      <Sharing waitlist={waitlist} status={status} texts={texts} isExplained={explanation !== undefined} />
      {leaders.length > 0 && <Leaderboard leaders={leaders} ownIndex={ownIndex} texts={texts} />}
    </div>
  );
}

/** The heading of the page, which is also in its title. */
export function headingOf({ sends_mail: sendsMail = true }: PublicWaitlist, status: Status, { text }: Texts): string {
  if (isOffered(status) || isTurnedAway(status)) return offerHeading(status, text);
  if (status.status === 'offboarded') return text('your_turn');
  // Not where the service has lost its mail server since.
  if (status.status === 'pending') return text(sendsMail ? 'check_mail' : 'no_mail');
  return text('place', { place: status.priority + 1 });
}

function offerHeading(status: Status, text: Texts['text']): string {
  const end = isTurnedAway(status) ? status.removed_reason : isOver(status) ? 'expired' : 'open';
  return text(`offer_${end}`);
}

function isOffered({ status }: Status): boolean {
  return status === 'offered';
}

/** The sweep that ends an offer can be a minute late. */
function isOver({ offer_expires_at: until }: Status): boolean {
  return until !== null && Date.parse(until) <= Date.now();
}

/** People who did not take their offer were not let in. */
function isTurnedAway(status: Status): status is Status & { readonly removed_reason: 'declined' | 'expired' } {
  return status.removed_reason === 'declined' || status.removed_reason === 'expired';
}

/** Shown to people who have an offer, or did not take one. */
function Offered({ status, texts: { text }, offer, heading: Heading = 'h1' }: StatusProps) {
  return (
    <div class="waitlist-status">
      <Heading class="waitlist-place">{offerHeading(status, text)}</Heading>
      {isOffered(status) && !isOver(status) && (offer ?? <p class="waitlist-ahead">{text('offered_no_mail')}</p>)}
      {isTurnedAway(status) && <p class="waitlist-ahead">{text('removed_text')}</p>}
    </div>
  );
}

function YourTurn({ waitlist, texts: { text }, heading: Heading = 'h1' }: StatusProps) {
  const { your_turn_url } = waitlist;
  return (
    <div class="waitlist-status">
      <Heading class="waitlist-place">{text('your_turn')}</Heading>
      <p class="waitlist-ahead">{text('your_turn_text')}</p>
      {your_turn_url !== null && (
        <a class="waitlist-button" href={your_turn_url}>
          {text('your_turn_button')}
        </a>
      )}
    </div>
  );
}

/** Shown until a pending person clicks the link in the mail. */
function CheckMail({ waitlist, texts, resend, address, heading: Heading = 'h1' }: StatusProps) {
  const { text } = texts;
  const { sends_mail: isMailed = true } = waitlist;
  return (
    <div class="waitlist-status">
      <Heading class="waitlist-place">{text(isMailed ? 'check_mail' : 'no_mail')}</Heading>
      <p class="waitlist-ahead">{text(isMailed ? 'check_mail_text' : 'no_mail_text')}</p>
      {address === undefined ? (
        // A script fills it in, if it knows the address: see typed-address.ts.
        <p class="waitlist-ahead waitlist-address" data-text={text('check_mail_address')} hidden />
      ) : (
        <p class="waitlist-ahead">{text('check_mail_address', { email: isolated(address) })}</p>
      )}
      {isMailed && resend && <ResendForm {...resend} hint={text('check_mail_hint')} button={text('resend')} />}
    </div>
  );
}

export function ResendForm({ hint, button, ...form }: Resend & { readonly hint: string; readonly button: string }) {
  return (
    <form class="waitlist-resend" method="post" action={form.action} onSubmit={form.onSubmit}>
      <p class="waitlist-note">{hint}</p>
      <button class="waitlist-secondary" type="submit" aria-disabled={form.isBusy}>
        {button}
      </button>
      <p class="waitlist-note" role="status">
        {form.outcome}
      </p>
    </form>
  );
}

interface SharingProps extends Pick<StatusProps, 'waitlist' | 'status' | 'texts'> {
  /** Whether the explanation says how many friends have joined. */
  readonly isExplained: boolean;
}

/** The buttons need a script, which shows them: see share.ts. */
function Sharing({ waitlist, status, texts: { text, count }, isExplained }: SharingProps) {
  const { spots_to_move_upon_referral: spots, widget_shows_social_links: showsLinks } = waitlist;
  const { referral_link: link, amount_referred: referrals } = status;
  const message = waitlist.twitter_message ?? text('message');
  return (
    <section class="waitlist-sharing" data-message={message}>
      {spots > 0 && <p>{count('spots', spots)}</p>}
      {referrals > 0 && !isExplained && <p>{count('referrals', referrals)}</p>}
      <label for="waitlist-link">{text('referral_link')}</label>
      <div class="waitlist-link">
        <input id="waitlist-link" class="waitlist-input" value={link} readOnly dir="ltr" />
        <button class="waitlist-secondary" type="button" data-copied={text('copied')} hidden>
          {text('copy')}
        </button>
      </div>
      <button class="waitlist-button waitlist-share" type="button" hidden>
        {text('share')}
      </button>
      {showsLinks && (
        <ul class="waitlist-networks">
          {networks(message, link).map(({ name, href }) => (
            <li key={name}>
              <a href={href} target="_blank" rel="noopener noreferrer" aria-label={text('share_on', { network: name })}>
                {name}
              </a>
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}

function networks(message: string, link: string): { readonly name: string; readonly href: string }[] {
  const [text, url, both] = [message, link, `${message} ${link}`].map(encodeURIComponent);
  return [
    { name: 'X', href: `https://x.com/intent/post?text=${text}&url=${url}` },
    { name: 'Facebook', href: `https://www.facebook.com/sharer/sharer.php?u=${url}` },
    { name: 'WhatsApp', href: `https://wa.me/?text=${both}` },
    { name: 'LinkedIn', href: `https://www.linkedin.com/sharing/share-offsite/?url=${url}` },
  ];
}

type LeaderboardProps = Pick<StatusProps, 'leaders' | 'ownIndex' | 'texts'>;

function Leaderboard({ leaders, ownIndex, texts: { text, lang } }: LeaderboardProps) {
  const numbers = new Intl.NumberFormat(lang);
  return (
    <table class="waitlist-leaders">
      <caption>{text('leaderboard')}</caption>
      <thead>
        <tr>
          <th scope="col">{text('leaderboard_place')}</th>
          <th scope="col">{text('leaderboard_person')}</th>
          <th scope="col">{text('leaderboard_referrals')}</th>
        </tr>
      </thead>
      <tbody>
        {leaders.map((leader, index) => (
          <tr key={index} class={index === ownIndex ? 'waitlist-own' : undefined}>
            <td>{numbers.format(index + 1)}</td>
            <td>
              <bdi>{nameOf(leader) || text('anonymous')}</bdi>
              {index === ownIndex && ` ${text('you')}`}
            </td>
            <td>{numbers.format(leader.amount_referred)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function nameOf({ first_name, last_name, email, phone }: Leader): string {
  const name = first_name.trim() && [first_name.trim(), last_name && `${last_name}.`].filter(Boolean).join(' ');
  return name || email || phone || '';
}
