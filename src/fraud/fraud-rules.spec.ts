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
  it.each<[Partial<Signals>, string]>([
    [{ isDisposable: true }, 'disposable_domain'],
    [{ isMailboxTaken: true }, 'same_mailbox'],
    [{ referralsLastHour: 60 }, 'referrer_rate'],
    [{ networkReferralsLastHour: 20 }, 'network_rate'],
    [{ secondsToFill: 1.999 }, 'too_fast'],
    [{ isHoneypotFilled: true }, 'honeypot'],
    [{ isCaptchaUnjudged: true }, 'captcha'],
  ])('for %j: %s', (signals, reason) => {
    expect(reasons(signals)).toEqual([reason]);
  });

  it('for all reasons at once, in their order', () => {
    expect(reasons(EVERYTHING)).toEqual(CREDIT_REASONS);
  });

  it.each<[Partial<Signals>, Partial<FraudRules>, string]>([
    [{ referralsLastHour: 1 }, { referrals_per_hour: 1 }, 'referrer_rate'],
    [{ networkReferralsLastHour: 3 }, { referrals_per_network_per_hour: 3 }, 'network_rate'],
    [{ secondsToFill: 9 }, { minimum_seconds: 10 }, 'too_fast'],
  ])('for %j by the rules %j: %s', (signals, rules, reason) => {
    expect(reasons(signals, rules)).toEqual([reason]);
  });
});

describe('the credit of a referral is given', () => {
  it.each<[Partial<Signals>, Partial<FraudRules>]>([
    [{}, {}],
    [{ referralsLastHour: 59, networkReferralsLastHour: 19, secondsToFill: 2 }, {}],
    [{ isDisposable: true }, { disposable_domains: false }],
    [{ isMailboxTaken: true }, { same_mailbox: false }],
  ])('for %j by the rules %j', (signals, rules) => {
    expect(reasons(signals, rules)).toEqual([]);
  });

  it('whatever is found, where the rules are off, but for those that are no setting', () => {
    expect(reasonsFor(EVERYTHING, OFF)).toEqual(['honeypot', 'captcha']);
  });
});
