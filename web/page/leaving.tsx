/** @jsxImportSource preact */
import type { PublicWaitlist } from './model.js';
import type { Texts } from './texts.js';

/** The button that mails a link to leave. */
export interface Leave {
  readonly action: string;
  /** Whether the link was asked for just now. */
  readonly isSent: boolean;
}

interface LeavingProps {
  readonly waitlist: PublicWaitlist;
  readonly texts: Texts;
  /** Null if no mail can reach the person: then the page names the contact of the waitlist, if there is one. */
  readonly leave: Leave | null;
}

const CONTACT = '{contact}';

function addressOf(contact: string): string {
  if (contact.startsWith('https://')) return contact;
  return `mailto:${contact.split('@').map(encodeURIComponent).join('@')}`;
}

/**
 * The end of a private page: the button that mails a link to leave, or else the contact. The answer to the button leads
 * to its id, because it is below the fold of a phone.
 */
export function Leaving({ waitlist: { contact = null }, texts: { text }, leave }: LeavingProps) {
  if (leave !== null)
    return (
      <form id="leave" class="waitlist-leave" method="post" action={leave.action}>
        <button class="waitlist-plain" type="submit">
          {text('leave')}
        </button>
        <p class="waitlist-note" role="status">
          {leave.isSent && text('leave_sent')}
        </p>
      </form>
    );
  if (contact === null) return null;
  const [first, ...others] = text('contact').split(CONTACT);
  return (
    <p class="waitlist-note waitlist-leave">
      {first}
      {others.map((words, index) => [
        <a key={index} href={addressOf(contact)}>
          <bdi>{contact}</bdi>
        </a>,
        words,
      ])}
    </p>
  );
}
