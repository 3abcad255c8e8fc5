/** @jsxImportSource preact */
import { PageName } from './header.js';
import type { PublicWaitlist } from './model.js';
import type { Texts } from './texts.js';

interface LeaveFormProps {
  readonly waitlist: PublicWaitlist;
  readonly action: string;
  readonly texts: Texts;
}

/** The page of a link to leave. It needs a click, because scanners of mails follow links. */
export function LeaveForm({ waitlist, action, texts: { text } }: LeaveFormProps) {
  return (
    <>
      <PageName waitlist={waitlist} />
      <form class="waitlist-form" method="post" action={action}>
        <h1 class="waitlist-title">{text('leave')}</h1>
        <p class="waitlist-introduction">{text('leave_text')}</p>
        <button class="waitlist-button" type="submit">
          {text('leave')}
        </button>
      </form>
    </>
  );
}

/** Shown once the person is off the list. */
export function Left({ waitlist, texts: { text } }: Omit<LeaveFormProps, 'action'>) {
  return (
    <>
      <PageName waitlist={waitlist} />
      <div class="waitlist-header waitlist-message">
        <h1 class="waitlist-title">{text('left')}</h1>
        <p class="waitlist-introduction">{text('left_text')}</p>
      </div>
    </>
  );
}
