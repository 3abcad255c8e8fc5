/** @jsxImportSource preact */
import { Explanation } from './explanation.js';
import { PageName } from './header.js';
import { type Leave, Leaving } from './leaving.js';
import type { Place } from './model.js';
import { OfferNote } from './offer-note.js';
import { StatusView, type StatusProps } from './status.js';

interface PrivatePageProps extends Omit<StatusProps, 'heading' | 'explanation' | 'offer'> {
  readonly place: Place;
  /** The address of the live place; omitted or null if the page does not follow it. */
  readonly events?: string | null;
  /** Null if no mail can reach the person. */
  readonly leave: Leave | null;
}

/** The page of a person who joined. The widget shows only the status: it stands in a page that has a name. */
export function PrivatePage({ waitlist, status, leaders, texts, place, events, leave, ...own }: PrivatePageProps) {
  const explanation = <Explanation waitlist={waitlist} place={place} texts={texts} />;
  return (
    <>
      <PageName waitlist={waitlist} />
      {/* live.ts announces changes to screen readers in it. */}
      {events && <p class="waitlist-live" role="status" data-events={events} data-place={JSON.stringify(place)} />}
      <StatusView
        waitlist={waitlist}
        status={status}
        leaders={leaders}
        texts={texts}
        explanation={explanation}
        offer={<OfferNote waitlist={waitlist} status={status} leaders={leaders} texts={texts} {...own} />}
        {...own}
      />
      {status.status === 'waiting' && <p class="waitlist-note waitlist-bookmark">{texts.text('bookmark')}</p>}
      <Leaving waitlist={waitlist} texts={texts} leave={leave} />
    </>
  );
}
