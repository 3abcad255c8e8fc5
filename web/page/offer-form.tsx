/** @jsxImportSource preact */
import { PageName } from './header.js';
import type { PublicWaitlist } from './model.js';
import { momentIn } from './moment.js';
import type { Texts } from './texts.js';

/** What became of an offer. */
export type OfferState = 'open' | 'accepted' | 'declined' | 'expired' | 'withdrawn';

interface OfferFormProps {
  readonly waitlist: PublicWaitlist;
  readonly texts: Texts;
  readonly state: OfferState;
  /** When an open offer ends; null while its time has not begun, and if it never ends. */
  readonly until: Date | null;
  /** The path of the page. */
  readonly path: string;
  /** The person's private page, which says where they are now. */
  readonly privatePage: string;
}

/** The page of an offer. The answer needs a click, because scanners of mails follow links. */
export function OfferForm({ waitlist, texts, state, until, path, privatePage }: OfferFormProps) {
  const { text, lang } = texts;
  return (
    <>
      <PageName waitlist={waitlist} />
      <div class="waitlist-header">
        <h1 class="waitlist-title">{text(`offer_${state}`)}</h1>
        <p class="waitlist-introduction">{text(`offer_${state}_text`)}</p>
        {state === 'open' && until !== null && <p>{text('offer_until', { until: momentIn(lang, until) })}</p>}
      </div>
      {state === 'open' ? (
        <div class="waitlist-answers">
          <form method="post" action={`${path}/accept`}>
            <button class="waitlist-button" type="submit">
              {text('offer_accept')}
            </button>
          </form>
          <form method="post" action={`${path}/decline`}>
            <button class="waitlist-secondary" type="submit">
              {text('offer_decline')}
            </button>
          </form>
        </div>
      ) : state === 'accepted' ? (
        <form method="post" action={`${path}/accept`}>
          <button class="waitlist-button" type="submit">
            {text('offer_continue')}
          </button>
        </form>
      ) : (
        <a class="waitlist-button" href={privatePage}>
          {text('offer_status')}
        </a>
      )}
    </>
  );
}
