import { describe, expect, it } from '@jest/globals';
import { emailKey, emailKeyPrefix } from './email.js';

describe('the normal form of an email', () => {
  it.each([
    ['trimmed', '  ada@example.com ', 'ada@example.com'],
    ['in lower case', 'Ada.Lovelace@Example.COM', 'ada.lovelace@example.com'],
    ['composed', 'cafe\u0301@example.com', 'caf\u00e9@example.com'],
    ['with its domain in ASCII', 'ada@Bücher.example', 'ada@xn--bcher-kva.example'],
    ['the same for a domain in ASCII', 'ada@xn--bcher-kva.example', 'ada@xn--bcher-kva.example'],
    ['with its plus tag and its dots', 'a.d.a+tag@example.com', 'a.d.a+tag@example.com'],
    ['with an emoji', '😀@example.com', '😀@example.com'],
    ['with an emoji for a domain', 'ada@😀.example', 'ada@xn--e28h.example'],
    ['with a letter that lower case splits in two', 'İ@example.com', 'i̇@example.com'],
  ])('is %s', (_, typed, key) => {
    expect(emailKey(typed)).toBe(key);
  });

  it.each([
    ['ß and ss', 'straße@example.com', 'strasse@example.com'],
    ['é and e', 'é@example.com', 'e@example.com'],
    ['ß and ss in a domain', 'ada@faß.de', 'ada@fass.de'],
    ['two emoji', '😀@example.com', '😁@example.com'],
    ['a plus tag and none', 'ada+tag@example.com', 'ada@example.com'],
  ])('differs for %s', (_, one, other) => {
    expect(emailKey(one)).not.toBe(emailKey(other));
  });

  it.each([
    [`${'a'.repeat(64)}@example.com`, 'a local part of 64 characters'],
    [`${'é'.repeat(64)}@example.com`, 'a local part of 64 characters of two bytes'],
    [`a@${'b'.repeat(63)}.com`, 'a label of 63 characters'],
    ['علي@xn--mgbh0fb.example', 'right-to-left letters'],
    ['संपर्क@example.com', 'combining marks'],
    ['葉士豪@example.com', 'Chinese'],
  ])('accepts %s, %s', (typed) => {
    expect(emailKey(typed)).toBe(typed);
  });

  it.each([
    ['no at sign', 'ada.example.com'],
    ['nothing before the at sign', '@example.com'],
    ['nothing after the at sign', 'ada@'],
    ['two at signs', 'ada@lovelace@example.com'],
    ['a space inside', 'ada lovelace@example.com'],
    ['a space in the domain', 'ada@exam ple.com'],
    ['a control character', 'ada\u0007@example.com'],
    ['a lone surrogate', 'ada\ud800@example.com'],
    ['angle brackets', '<ada@example.com>'],
    ['a domain of one label', 'ada@localhost'],
    ['an empty label', 'ada@example..com'],
    ['a trailing dot', 'ada@example.com.'],
    ['a hyphen before a label', 'ada@-example.com'],
    ['an underscore in the domain', 'ada@exa_mple.com'],
    ['an IP address', 'ada@127.0.0.1'],
    ['an IP address in hexadecimal', 'ada@0x7f.1'],
    ['an address in brackets', 'ada@[127.0.0.1]'],
    ['a path after the domain', 'ada@example.com/other'],
    ['a full-width slash after the domain', 'ada@example.com／other'],
    ['a backslash after the domain', 'ada@example.com\\other'],
    ['a query after the domain', 'ada@example.com?other'],
    ['a fragment after the domain', 'ada@example.com#other'],
    ['a port after the domain', 'ada@example.com:25'],
    ['an escaped letter in the domain', 'ada@ex%61mple.com'],
    ['a local part of 65 characters', `${'a'.repeat(65)}@example.com`],
    ['a label of 64 characters', `ada@${'a'.repeat(64)}.com`],
    ['255 characters', `ada@${'a.'.repeat(124)}com`],
    ['no text', ''],
    ['a zero-width space', 'ada\u200b@example.com'],
    ['a zero-width joiner in the domain', 'ada@exa\u200dmple.com'],
    ['a soft hyphen in the domain', 'ada@exa\u00admple.com'],
    ['a right-to-left override', 'ada\u202e@example.com'],
    ['an isolate', '\u2066ada@example.com'],
    ['a variation selector', '❤\ufe0f@example.com'],
    ['a byte order mark around it', '\ufeffada@example.com'],
    ['a blank symbol', 'ada\u2800@example.com'],
  ])('rejects %s', (_, typed) => {
    expect(emailKey(typed)).toBeNull();
  });
});

describe('the beginning of an email', () => {
  it.each(['Ada.Lovelace+tag@Example.com', 'Cafe\u0301@example.com', '😀@example.com', 'ada@xn--bcher-kva.example'])(
    'begins the normal form: %s',
    (typed) => {
      const key = emailKey(typed)!;
      const beginnings = Array.from(key, (_, index) => [...key].slice(0, index + 1).join(''));

      expect(beginnings.filter((beginning) => !key.startsWith(emailKeyPrefix(beginning.toUpperCase())))).toEqual([]);
      expect(emailKeyPrefix(` ${typed} `)).toBe(key);
    },
  );

  it('begins the normal form once a domain beyond ASCII is complete', () => {
    expect(emailKeyPrefix('ada@Bücher.example')).toBe('ada@xn--bcher-kva.example');
  });
});
