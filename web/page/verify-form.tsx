/** @jsxImportSource preact */
import { PageName } from './header.js';
import type { PublicWaitlist } from './model.js';
import type { Texts } from './texts.js';

interface VerifyFormProps {
  readonly waitlist: PublicWaitlist;
  readonly action: string;
  /** Whether the link has confirmed the email already. Then the button only leads to the private page. */
  readonly isUsed?: boolean;
  readonly texts: Texts;
}

/** The page of a link in a mail. It needs a click, because scanners of mails follow links. */
export function VerifyForm({ waitlist, action, isUsed = false, texts: { text } }: VerifyFormProps) {
  return (
    <>
      <PageName waitlist={waitlist} />
      <form class="waitlist-form" method="post" action={action}>
        <h1 class="waitlist-title">{text(isUsed ? 'verified' : 'verify')}</h1>
        {!isUsed && <p class="waitlist-introduction">{text('verify_text')}</p>}
        <button class="waitlist-button" type="submit">
          {text(isUsed ? 'find_button' : 'verify_button')}
        </button>
      </form>
    </>
  );
}
