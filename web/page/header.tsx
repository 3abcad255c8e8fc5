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
export function Header({ waitlist, texts, heading: Heading = 'h1', showsTitle = true, note = '' }: HeaderProps) {
  const { text } = texts;
  const introduction = text(waitlist.is_closed ? 'closed' : 'introduction');
  if (!showsTitle && introduction === '' && note === '') return null;
  return (
    <div class="waitlist-header">
      {showsTitle && (
        <Heading class="waitlist-title">
          <bdi>{waitlist.title ?? waitlist.waitlist_name}</bdi>
        </Heading>
      )}
      {introduction !== '' && <p class="waitlist-introduction">{introduction}</p>}
      {waitlist.is_closed && <p class="waitlist-introduction">{text('find')}</p>}
      {note !== '' && !waitlist.is_closed && <p class="waitlist-note">{note}</p>}
    </div>
  );
}
