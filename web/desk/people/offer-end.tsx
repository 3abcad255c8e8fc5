import { sendsMail } from '../environment';
import { RelativeTime } from '../parts/relative-time';
import type { Person } from './people.queries';

/** An offer that is not mailed starts its time at once. So if it has no end, it never expires. */
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
    : 'The end is not set. Unless the offer never expires, its time starts when the mail is sent.';
}

/** The same, for a table. */
export function OfferEndCell({ person }: { person: Person }) {
  if (person.offer_expires_at !== null) return <RelativeTime time={person.offer_expires_at} isFocusable={false} />;
  return neverExpires(person) ? 'never' : 'not set';
}
