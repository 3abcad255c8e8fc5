import { describe, expect, it } from '@jest/globals';
import { isDisposable } from './disposable.js';
import { mailboxKey, mailBoundKey } from './mailbox.js';

describe('the mailbox of an address', () => {
  it.each([
    ['ada.lovelace@gmail.com', 'adalovelace@gmail.com', 'Gmail ignores dots'],
    ['ada+list@gmail.com', 'ada@gmail.com', 'Gmail ignores a tag'],
    ['a.da+x+y.z@googlemail.com', 'ada@gmail.com', 'googlemail.com is gmail.com'],
    ['ada+list@outlook.com', 'ada@outlook.com', 'Outlook ignores a tag'],
    ['ada+list@hotmail.co.uk', 'ada@hotmail.co.uk', 'Hotmail ignores a tag'],
    ['ada+list@live.com.mx', 'ada@live.com.mx', 'Live ignores a tag'],
    ['ada+list@msn.com', 'ada@msn.com', 'MSN ignores a tag'],
    ['ada+list@me.com', 'ada@icloud.com', 'me.com is icloud.com'],
    ['ada+list@mac.com', 'ada@icloud.com', 'mac.com is icloud.com'],
    ['ada+list@fastmail.com', 'ada@fastmail.com', 'Fastmail ignores a tag'],
    ['list@ada.fastmail.com', 'ada@fastmail.com', 'Fastmail gives each user a subdomain'],
    ['list+x@ada.fastmail.co.uk', 'ada@fastmail.co.uk', 'Fastmail gives each user a subdomain'],
    ['a.d-a_l+list@proton.me', 'adal@proton.me', 'Proton ignores dots, hyphens, underscores and a tag'],
    ['ada@pm.me', 'ada@proton.me', 'the domains of Proton are one'],
    ['ada@protonmail.com', 'ada@proton.me', 'the domains of Proton are one'],
    ['ada+list@yandex.ru', 'ada@yandex.ru', 'Yandex ignores a tag'],
    ['ada@ya.ru', 'ada@yandex.ru', 'the domains of Yandex are one'],
    ['ada+x@yandex.com', 'ada@yandex.ru', 'the domains of Yandex are one'],
    ['ada-one@yahoo.com', 'ada-@yahoo.com', 'Yahoo has disposable addresses of a base and a keyword'],
    ['ada-two-three@yahoo.com', 'ada-@yahoo.com', 'Yahoo has disposable addresses of a base and a keyword'],
    ['ada-one@yahoo.co.uk', 'ada-@yahoo.co.uk', 'Yahoo has disposable addresses of a base and a keyword'],
  ])('%s is %s: %s', (address, mailbox) => {
    expect(mailboxKey(address)).toBe(mailbox);
  });

  it.each([
    ['ada.lovelace@outlook.com', 'dots count at Outlook'],
    ['ada-one@outlook.com', 'hyphens count at Outlook'],
    ['a.da@icloud.com', 'dots count at iCloud'],
    ['a.da@fastmail.com', 'dots count at Fastmail'],
    ['a.da@yahoo.com', 'dots count at Yahoo'],
    ['a.da@yandex.ru', 'dots count at Yandex'],
    ['ada@yandex.example', 'the provider is unknown'],
    ['ada-one@yahoo.co.jp', 'Yahoo Japan is another company'],
    ['a.da+list@example.com', 'the provider is unknown'],
    ['ada+list@notgmail.com', 'the provider is unknown'],
    ['ada+list@mail.gmail.com', 'the provider is unknown'],
    ['list@ada.outlook.com', 'Outlook has no subdomains'],
    ['+list@gmail.com', 'nothing is left before the tag'],
  ])('%s stays: %s', (address) => {
    expect(mailboxKey(address)).toBe(address);
  });

  it('as the bounds on mails count it, has no tag at any provider', () => {
    expect(mailBoundKey('ada+list@example.com')).toBe('ada@example.com');
    expect(mailBoundKey('a.da+list@gmail.com')).toBe('ada@gmail.com');
    expect(mailBoundKey('a.da@example.com')).toBe('a.da@example.com');
  });
});

describe('a throwaway mailbox', () => {
  it.each(['ada@mailinator.com', 'ada@inbox.mailinator.com', 'ada@a.b.yopmail.com'])('is known: %s', (address) => {
    expect(isDisposable(address)).toBe(true);
  });

  it.each(['ada@gmail.com', 'ada@example.com', 'ada@mailinator.com.example', 'ada@duck.com'])(
    'is not known for a lasting mailbox, or for another domain: %s',
    (address) => {
      expect(isDisposable(address)).toBe(false);
    },
  );
});
