/** @jsxImportSource preact */
import type { Place, PublicWaitlist } from './model.js';
import type { Texts } from './texts.js';

const DAY_MS = 86_400_000;
/** An estimate beyond this names months, not days. */
const DAYS_MAX = 60;

interface ExplanationProps {
  readonly waitlist: PublicWaitlist;
  readonly place: Place;
  readonly texts: Texts;
}

/** How a person got to their place, and when it may be their turn. */
export function Explanation({ waitlist, place, texts }: ExplanationProps) {
  const sentences = sentencesOf(waitlist, place, texts);
  if (sentences.length === 0) return null;
  return (
    <ul class="waitlist-why">
      {sentences.map((sentence) => (
        <li key={sentence}>{sentence}</li>
      ))}
    </ul>
  );
}

function sentencesOf({ is_closed: isClosed }: PublicWaitlist, place: Place, { text, count, lang }: Texts): string[] {
  const { priority, joined_priority: joined, referrals, next_referral_priority: next, estimate } = place;
  // Nobody moves beyond the front, so spots beyond it count neither as a move up nor as one back.
  const spots = Math.min(referrals.spots, joined ?? 0);
  const others = place.others === null ? 0 : place.others + referrals.spots - spots;
  const sentences = [
    joined !== null && joined !== priority && text('joined_as', { place: joined + 1 }),
    referrals.count > 0 && [count('referrals', referrals.count), spots > 0 && count('moved_up', spots)],
    others > 0 && count('others_up', others),
    others < 0 && count('others_back', -others),
    !isClosed && next !== null && next < priority && text('one_more', { place: next + 1 }),
    estimate && text('estimate', { dates: daysIn(lang, estimate) }),
  ];
  return sentences.map((parts) => [parts].flat().filter(Boolean).join(' ')).filter((sentence) => sentence !== '');
}

/** From one day to another, or the months of both if they are far away. */
function daysIn(lang: string, { from, to }: NonNullable<Place['estimate']>): string {
  const isFar = Date.parse(to) - Date.now() > DAYS_MAX * DAY_MS;
  const format = new Intl.DateTimeFormat(lang, {
    year: 'numeric',
    month: 'long',
    day: isFar ? undefined : 'numeric',
    timeZone: 'UTC',
  });
  return format.formatRange(new Date(from), new Date(to));
}
