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
