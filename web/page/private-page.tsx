/** @jsxImportSource preact */
import { PageName } from './header.js';
import { type Leave, Leaving } from './leaving.js';
import { StatusView, type StatusProps } from './status.js';

interface PrivatePageProps extends Omit<StatusProps, 'heading'> {
  /** Null if no mail can reach the person. */
  readonly leave: Leave | null;
}

/** The page of a person who joined. The widget shows only the status: it stands in a page that has a name. */
export function PrivatePage({ waitlist, status, leaders, texts, leave, ...own }: PrivatePageProps) {
  return (
    <>
      <PageName waitlist={waitlist} />
      <StatusView waitlist={waitlist} status={status} leaders={leaders} texts={texts} {...own} />
      {status.status === 'waiting' && <p class="waitlist-note waitlist-bookmark">{texts.text('bookmark')}</p>}
      <Leaving waitlist={waitlist} texts={texts} leave={leave} />
    </>
  );
}
