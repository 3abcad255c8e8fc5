/** The reasons to withhold the credit of a referral, in the order in which they are listed. */
export const CREDIT_REASONS = [
  'disposable_domain',
  'same_mailbox',
  'referrer_rate',
  'network_rate',
  'too_fast',
  'honeypot',
  'captcha',
] as const;
export type CreditReason = (typeof CREDIT_REASONS)[number];

/** The rules of a waitlist, by the names of their fields in the API. Null turns a rule off, as false does. */
export interface FraudRules {
  readonly disposable_domains: boolean | null;
  readonly same_mailbox: boolean | null;
  /** Referrals of one referrer, credited or not, after which further ones are withheld. */
  readonly referrals_per_hour: number | null;
  /** The same from one network. */
  readonly referrals_per_network_per_hour: number | null;
  /** From opening the form to sending it. */
  readonly minimum_seconds: number | null;
}

export const FRAUD_DEFAULTS: FraudRules = {
  disposable_domains: true,
  same_mailbox: true,
  referrals_per_hour: 60,
  referrals_per_network_per_hour: 20,
  minimum_seconds: 2,
};

/** The signals that a signup carries itself. */
export interface SignupSignals {
  /** The domain of the email offers throwaway mailboxes. */
  readonly isDisposable: boolean;
  /** From opening the form to sending it; null if that is unknown. */
  readonly secondsToFill: number | null;
  readonly isHoneypotFilled: boolean;
  /** The provider did not judge the captcha token, and the owner withholds credit then. */
  readonly isCaptchaUnjudged: boolean;
}

/** The signals of a signup and of the records of its waitlist. The counts do not include this signup. */
export interface Signals extends SignupSignals {
  /** Another record of the waitlist has the same mailbox. */
  readonly isMailboxTaken: boolean;
  /** Referrals of the same referrer, credited or not. */
  readonly referralsLastHour: number;
  /** Those among them from the network of the request; 0 if the network is unknown or exempt. */
  readonly networkReferralsLastHour: number;
}

type Test = (signals: Signals, rules: FraudRules) => boolean;

const isReached = (max: number | null, count: number) => max !== null && count >= max;

const TESTS: Readonly<Record<CreditReason, Test>> = {
  disposable_domain: ({ isDisposable }, rules) => isDisposable && rules.disposable_domains === true,
  same_mailbox: ({ isMailboxTaken }, rules) => isMailboxTaken && rules.same_mailbox === true,
  referrer_rate: ({ referralsLastHour }, rules) => isReached(rules.referrals_per_hour, referralsLastHour),
  network_rate: ({ networkReferralsLastHour }, rules) =>
    isReached(rules.referrals_per_network_per_hour, networkReferralsLastHour),
  too_fast: ({ secondsToFill }, { minimum_seconds: minimum }) =>
    secondsToFill !== null && minimum !== null && secondsToFill < minimum,
  honeypot: ({ isHoneypotFilled }) => isHoneypotFilled,
  captcha: ({ isCaptchaUnjudged }) => isCaptchaUnjudged,
};

/** The reasons to withhold the credit of a referral, in the order of {@link CREDIT_REASONS}; empty if none applies. */
export function reasonsFor(signals: Signals, rules: FraudRules): CreditReason[] {
  return CREDIT_REASONS.filter((reason) => TESTS[reason](signals, rules));
}
