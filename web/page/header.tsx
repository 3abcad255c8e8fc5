/** @jsxImportSource preact */
import type { PublicWaitlist } from './model.js';
import type { Texts } from './texts.js';

interface HeaderProps {
  readonly waitlist: PublicWaitlist;
  readonly texts: Texts;
  /** Within another page, `h2`. */
  readonly heading?: 'h1' | 'h2';
  readonly showsTitle?: boolean;
  /** Who invited, and how many are in line. */
  readonly note?: string;
  /** Above the form of those who have joined, which a closed waitlist always has. */
  readonly isLookup?: boolean;
}

/** The name of the waitlist, above the content of a private page. */
export function PageName({ waitlist }: Pick<HeaderProps, 'waitlist'>) {
  return (
    <p class="waitlist-name">
      <bdi>{waitlist.title ?? waitlist.waitlist_name}</bdi>
    </p>
  );
}

/** What stands above the form. */
export function Header({
  waitlist,
  texts,
  heading: Heading = 'h1',
  showsTitle = true,
  note = '',
  isLookup,
}: HeaderProps) {
  const { text } = texts;
  const { is_closed: isClosed } = waitlist;
  const introduction = isClosed ? text('closed') : isLookup ? '' : text('introduction');
  if (!showsTitle && introduction === '' && note === '') return null;
  return (
    <div class="waitlist-header">
      {showsTitle && (
        <Heading class="waitlist-title">
          <bdi>{waitlist.title ?? waitlist.waitlist_name}</bdi>
        </Heading>
      )}
      {introduction !== '' && <p class="waitlist-introduction">{introduction}</p>}
      {(isClosed || isLookup) && <p class="waitlist-introduction">{text('find')}</p>}
      {note !== '' && !isClosed && <p class="waitlist-note">{note}</p>}
    </div>
  );
}
