/** @jsxImportSource preact */
import { StatusView, type StatusProps } from './status.js';

interface PrivatePageProps extends Omit<StatusProps, 'heading'> {
  /** Where the button of a pending person leads that sends the mail again. */
  readonly resendAction: string;
  /** Whether that button led here. */
  readonly isResent: boolean;
}

/** The page of a person who joined. The widget shows only the status: it stands in a page that has a name. */
export function PrivatePage({ waitlist, status, leaders, texts, resendAction, isResent }: PrivatePageProps) {
  return (
    <>
      <p class="waitlist-name">
        <bdi>{waitlist.title ?? waitlist.waitlist_name}</bdi>
      </p>
      <StatusView waitlist={waitlist} status={status} leaders={leaders} texts={texts} />
      {status.status === 'pending' && <Resend action={resendAction} isResent={isResent} texts={texts} />}
      {status.status === 'waiting' && <p class="waitlist-note waitlist-bookmark">{texts.text('bookmark')}</p>}
    </>
  );
}

function Resend({
  action,
  isResent,
  texts: { text },
}: { action: string; isResent: boolean } & Pick<StatusProps, 'texts'>) {
  return (
    <form class="waitlist-form waitlist-resend" method="post" action={action}>
      {isResent && (
        <p class="waitlist-note" role="status">
          {text('resent')}
        </p>
      )}
      <button class="waitlist-button" type="submit">
        {text('resend')}
      </button>
    </form>
  );
}
