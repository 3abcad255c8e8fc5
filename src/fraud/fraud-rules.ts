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

/** The rules of a waitlist, by the names of their fields in the API. Null turns one off. */
export interface FraudRules {
  readonly disposable_domains: boolean | null;
  readonly same_mailbox: boolean | null;
  /** Referrals of one referrer. */
  readonly referrals_per_hour: number | null;
  /** Referrals of one referrer from one network. */
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

/** What a request to join tells by itself. */
export interface SignupSignals {
  readonly isDisposable: boolean;
  /** From opening the form to sending it; null if that is unknown. */
  readonly secondsToFill: number | null;
  readonly isHoneypotFilled: boolean;
  /** There is a token of the captcha, but its provider did not judge it, and the owner withholds credit then. */
  readonly captchaMissed: boolean;
}

/** What a request tells together with the records of its waitlist. The counts leave the request itself out. */
export interface Signals extends SignupSignals {
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
  captcha: ({ captchaMissed }) => captchaMissed,
};

/** All reasons to withhold the credit of a referral, in the order of {@link CREDIT_REASONS}; none for an honest one. */
export function reasonsFor(signals: Signals, rules: FraudRules): CreditReason[] {
  return CREDIT_REASONS.filter((reason) => TESTS[reason](signals, rules));
}
