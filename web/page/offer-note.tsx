/** @jsxImportSource preact */
import { momentIn } from './moment.js';
import { ResendForm, type StatusProps } from './status.js';

/** What the private page says of an open offer. The link is in the mail alone, because anybody may have the page. */
export function OfferNote({ waitlist, status, texts: { text, lang }, resend }: StatusProps) {
  const { offer_expires_at: until } = status;
  const { sends_mail: sendsMail = true, required_contact: contact } = waitlist;
  const isMailed = sendsMail && (resend !== undefined || contact.email === 'required');
  return (
    <>
      {until !== null && (
        <p class="waitlist-ahead">{text('offer_until', { until: momentIn(lang, new Date(until)) })}</p>
      )}
      <p class="waitlist-ahead">{text(isMailed ? 'offered_text' : 'offered_no_mail')}</p>
      {resend && <ResendForm {...resend} hint={text('offered_hint')} button={text('offered_button')} />}
    </>
  );
}
