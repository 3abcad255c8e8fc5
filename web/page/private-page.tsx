/** @jsxImportSource preact */
import { PageName } from './header.js';
import { StatusView, type StatusProps } from './status.js';

/** The page of a person who joined. The widget shows only the status: it stands in a page that has a name. */
export function PrivatePage({ waitlist, status, leaders, texts, ...own }: Omit<StatusProps, 'heading'>) {
  return (
    <>
      <PageName waitlist={waitlist} />
      <StatusView waitlist={waitlist} status={status} leaders={leaders} texts={texts} {...own} />
      {status.status === 'waiting' && <p class="waitlist-note waitlist-bookmark">{texts.text('bookmark')}</p>}
    </>
  );
}
