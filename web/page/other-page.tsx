/** @jsxImportSource preact */

interface OtherPageProps {
  readonly href: string;
  /** An owner may leave it empty: then there is no link. */
  readonly label: string;
}

/** The link below a form: from that of newcomers to that of those who have joined, and back. */
export function OtherPage({ href, label }: OtherPageProps) {
  if (label === '') return null;
  return (
    <p class="waitlist-note waitlist-other">
      <a href={href}>{label}</a>
    </p>
  );
}
