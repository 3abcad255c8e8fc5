import type { Person } from './people.queries';

export type Credit = Person['credit'];

/** In lists and filters. */
export const CREDIT_LABELS: Readonly<Record<Credit, string>> = {
  none: 'Not referred',
  credited: 'Counts',
  awaiting_verification: 'Unconfirmed',
  withheld: 'Withheld',
  refused: 'Refused',
};

const REASONS: Readonly<Record<Person['credit_reasons'][number], string>> = {
  disposable_domain: 'a throwaway address',
  same_mailbox: 'a mailbox already on the list',
  referrer_rate: 'too many referrals within an hour',
  network_rate: 'too many from one network',
  too_fast: 'a form sent too fast',
  honeypot: 'a hidden field filled in',
  captcha: 'a captcha that its provider did not judge',
};

/** In the panel of a person. */
export const CREDIT_SENTENCES: Readonly<Record<Exclude<Credit, 'none'>, string>> = {
  credited: 'It counts.',
  awaiting_verification: 'It counts once this person has confirmed the email.',
  withheld: 'It does not count until you approve it.',
  refused: 'It does not count.',
};

/** The reasons against a referral, as a part of a sentence. */
export function reasonsOf({ credit_reasons }: Pick<Person, 'credit_reasons'>): string {
  return credit_reasons.map((reason) => REASONS[reason]).join('; ');
}

/** Whether a person was referred and the referral does not count, or not yet. */
export function isUncredited(credit: Credit): boolean {
  return credit !== 'none' && credit !== 'credited';
}

/** Whether an owner can approve the referral of a person, or refuse it. */
export function choicesFor({ credit }: Pick<Person, 'credit'>) {
  return {
    canApprove: credit === 'withheld' || credit === 'refused',
    canRefuse: credit !== 'none' && credit !== 'refused',
  };
}
