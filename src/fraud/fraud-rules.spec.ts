import { describe, expect, it } from '@jest/globals';
import { CREDIT_REASONS, FRAUD_DEFAULTS, type FraudRules, reasonsFor, type Signals } from './fraud-rules.js';

const HONEST: Signals = {
  isDisposable: false,
  isMailboxTaken: false,
  referralsLastHour: 0,
  networkReferralsLastHour: 0,
  secondsToFill: null,
  isHoneypotFilled: false,
  isCaptchaUnjudged: false,
};
const OFF: FraudRules = {
  disposable_domains: null,
  same_mailbox: null,
  referrals_per_hour: null,
  referrals_per_network_per_hour: null,
  minimum_seconds: null,
};
const EVERYTHING: Signals = {
  isDisposable: true,
  isMailboxTaken: true,
  referralsLastHour: 1_000_000,
  networkReferralsLastHour: 1_000_000,
  secondsToFill: 0,
  isHoneypotFilled: true,
  isCaptchaUnjudged: true,
};

const reasons = (signals: Partial<Signals>, rules: Partial<FraudRules> = {}) =>
  reasonsFor({ ...HONEST, ...signals }, { ...FRAUD_DEFAULTS, ...rules });

describe('the credit of a referral is withheld', () => {
  it.each<[string, Partial<Signals>, string]>([
    ['a throwaway mailbox', { isDisposable: true }, 'disposable_domain'],
    ['the mailbox of another record', { isMailboxTaken: true }, 'same_mailbox'],
    ['60 referrals within the hour', { referralsLastHour: 60 }, 'referrer_rate'],
    ['20 referrals from one network within the hour', { networkReferralsLastHour: 20 }, 'network_rate'],
    ['a form that was open for less than 2 seconds', { secondsToFill: 1.999 }, 'too_fast'],
    ['the honeypot', { isHoneypotFilled: true }, 'honeypot'],
    ['a captcha that its provider did not judge', { isCaptchaUnjudged: true }, 'captcha'],
  ])('because of %s', (_, signals, reason) => {
    expect(reasons(signals)).toEqual([reason]);
  });

  it('for all reasons at once, in their order', () => {
    expect(reasons(EVERYTHING)).toEqual(CREDIT_REASONS);
  });

  it.each<[keyof FraudRules, Partial<Signals>, Partial<FraudRules>, string]>([
    ['referrals_per_hour', { referralsLastHour: 1 }, { referrals_per_hour: 1 }, 'referrer_rate'],
    [
      'referrals_per_network_per_hour',
      { networkReferralsLastHour: 3 },
      { referrals_per_network_per_hour: 3 },
      'network_rate',
    ],
    ['minimum_seconds', { secondsToFill: 9 }, { minimum_seconds: 10 }, 'too_fast'],
  ])("by the owner's %s", (_, signals, rules, reason) => {
    expect(reasons(signals, rules)).toEqual([reason]);
  });

  it('by the honeypot and the captcha even if all rules are off', () => {
    expect(reasonsFor(EVERYTHING, OFF)).toEqual(['honeypot', 'captcha']);
  });
});

describe('the credit of a referral is given', () => {
  it.each<[string, Partial<Signals>, Partial<FraudRules>]>([
    ['nothing is suspicious', {}, {}],
    ['each rate is below its limit', { referralsLastHour: 59, networkReferralsLastHour: 19, secondsToFill: 2 }, {}],
    ['disposable_domains is off', { isDisposable: true }, { disposable_domains: false }],
    ['same_mailbox is off', { isMailboxTaken: true }, { same_mailbox: false }],
  ])('if %s', (_, signals, rules) => {
    expect(reasons(signals, rules)).toEqual([]);
  });
});
