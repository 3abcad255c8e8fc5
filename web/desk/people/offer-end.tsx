import { sendsMail } from '../environment';
import { RelativeTime } from '../parts/relative-time';
import type { Person } from './people.queries';

/** Without a mail to wait for, the time of an offer begins at once: such an offer without an end never expires. */
function neverExpires({ offer_expires_at, email }: Person): boolean {
  return offer_expires_at === null && (!sendsMail || email === null);
}

/** Until when the offer of a person is open, as a sentence. */
export function OfferEnd({ person }: { person: Person }) {
  if (person.offer_expires_at !== null)
    return (
      <>
        The offer expires <RelativeTime time={person.offer_expires_at} />.
      </>
    );
  return neverExpires(person)
    ? 'The offer never expires.'
    : 'The offer has no end yet: its time begins when the mail is sent, unless it never expires.';
}

/** The same, for a table. */
export function OfferEndCell({ person }: { person: Person }) {
  if (person.offer_expires_at !== null) return <RelativeTime time={person.offer_expires_at} isFocusable={false} />;
  return neverExpires(person) ? 'never' : 'no end yet';
}
