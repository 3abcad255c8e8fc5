import { describe, expect, it } from '@jest/globals';
import { contactFaults, contactKeys, nonBlank } from './contact.js';

describe('contact data', () => {
  it('matches by the normal form of each part', () => {
    const keys = contactKeys({ email: ' Ada@Example.com', phone: '+1 (415) 555-0123' }, null);

    expect(keys).toEqual({ emailKey: 'ada@example.com', phoneKey: '+14155550123' });
  });

  it('has no key for a part that is missing', () => {
    expect(contactKeys({ email: null, phone: null }, 'US')).toEqual({ emailKey: null, phoneKey: null });
  });

  it.each([
    ['its country code', '+49 30 901820', null, '+4930901820'],
    ['its country code and another region', '+49 30 901820', 'US', '+4930901820'],
    ['dots', '+1.415.555.0123', null, '+14155550123'],
    ['hyphens and brackets of its region', '(415) 555-0123', 'US', '+14155550123'],
    ['the trunk zero of its region', '030 901820', 'DE', '+4930901820'],
    ['the international prefix of its region', '0049 30 901820', 'FR', '+4930901820'],
    ['spaces around it', '  +14155550123 ', null, '+14155550123'],
    ['Arabic digits', '+١٤١٥٥٥٥٠١٢٣', null, '+14155550123'],
  ])('takes a phone number with %s', (_, phone, region, phoneKey) => {
    expect(contactKeys({ email: null, phone }, region)).toEqual({ emailKey: null, phoneKey });
  });

  it.each([
    ['without a country code on a waitlist without a region', '(415) 555-0123', null],
    ['of letters', 'call me', 'US'],
    ['that is too short', '+1415', null],
    ['that is too long', '+1415555012345678', null],
    ['of a country that does not exist', '+999123456789', null],
    ['within other text', 'call +14155550123 at night', null],
    ['of a plus sign', '+', null],
  ])('has no key for a phone number %s', (_, phone, region) => {
    expect(contactKeys({ email: null, phone }, region)).toEqual({ emailKey: null, phoneKey: null });
  });

  it('lists each part that has no normal form', () => {
    const contact = { email: 'nobody', phone: 'nothing' };

    expect(contactFaults(contact, contactKeys(contact, 'US'), 'US')).toEqual([
      { field: 'email', rule: 'format', message: 'must be an email address' },
      { field: 'phone', rule: 'format', message: expect.stringMatching(/, or a number of US$/) },
    ]);
  });

  it.each([
    [undefined, null],
    [null, null],
    ['', null],
    [' \t', null],
    [' Ada ', ' Ada '],
  ])('%j counts as %j', (text, expected) => {
    expect(nonBlank(text)).toBe(expected);
  });
});
