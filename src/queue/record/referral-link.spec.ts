import { describe, expect, it } from '@jest/globals';
import { referralLink, referrerTokens } from './referral-link.js';

const TOKEN = '7ZZ0K3M9QXVB';
const OTHER = '0123456789AB';

describe('a referral link', () => {
  it.each([
    ['a page', 'https://example.com/join', `https://example.com/join?ref_id=${TOKEN}`],
    ['a bare host', 'https://example.com', `https://example.com?ref_id=${TOKEN}`],
    ['a page with a query', 'https://example.com/?lang=en&a=1', `https://example.com/?lang=en&a=1&ref_id=${TOKEN}`],
    ['a page with an empty query', 'https://example.com/?', `https://example.com/?ref_id=${TOKEN}`],
    ['a page with a fragment', 'https://example.com/join#form', `https://example.com/join?ref_id=${TOKEN}`],
    ['a fragment with a query', 'https://example.com/#/join?lang=en', `https://example.com/?ref_id=${TOKEN}`],
    ['a ref_id of its own', `https://example.com/?ref_id=${OTHER}&a=1`, `https://example.com/?a=1&ref_id=${TOKEN}`],
    ['a question mark in a value', 'https://example.com/?q=a?b', `https://example.com/?q=a?b&ref_id=${TOKEN}`],
  ])('to %s ends with the token', (_, page, link) => {
    expect(referralLink(page, TOKEN)).toBe(link);
  });

  it.each(['https://example.com/', 'https://example.com/?a=1', `https://example.com/?ref_id=${OTHER}&a=1#b`])(
    'on %s gives its token to a client that cuts after ref_id=',
    (page) => {
      expect(/ref_id=(.+)/.exec(referralLink(page, TOKEN))?.[1]).toBe(TOKEN);
    },
  );
});

describe('the tokens in the address of a page', () => {
  it.each([
    ['in the query', `https://example.com/join?ref_id=${TOKEN}`, [TOKEN]],
    ['among other parameters', `https://example.com/?utm_source=x&ref_id=${TOKEN}&b=2`, [TOKEN]],
    ['before a fragment', `https://example.com/?ref_id=${TOKEN}#form`, [TOKEN]],
    ["in the fragment's query", `https://example.com/#android?ref_id=${TOKEN}`, [TOKEN]],
    ['after a placeholder', `https://example.com/?ref_id=null#android?ref_id=${TOKEN}`, [TOKEN]],
    ['under another name', `https://example.com/?referrer=${TOKEN}`, [TOKEN]],
    ['in a relative address', `/join?ref_id=${TOKEN}`, [TOKEN]],
    ['percent-encoded', `https://example.com/?ref_id=%37ZZ0K3M9QXVB`, [TOKEN]],
    ['twice, once', `https://example.com/?ref_id=${TOKEN}&again=${TOKEN}`, [TOKEN]],
    ['ref_id before other names', `https://example.com/?x=${OTHER}&ref_id=${TOKEN}`, [TOKEN, OTHER]],
    [
      'ref_id in the fragment before other names in the query',
      `https://example.com/?x=${OTHER}#?ref_id=${TOKEN}`,
      [TOKEN, OTHER],
    ],
    ['of another product', 'https://example.com/?ref_id=a-1_Bc', ['a-1_Bc']],
    [
      'behind values that look like tokens',
      'https://example.com/?utm_source=google&utm_medium=organic&utm_campaign=launch&gclid=a1b2c3d4&referrer=a-1_Bc',
      ['google', 'organic', 'launch', 'a1b2c3d4', 'a-1_Bc'],
    ],
    ['the query before the fragment', `https://example.com/?ref_id=${TOKEN}#?ref_id=${OTHER}`, [TOKEN, OTHER]],
  ])('are found %s', (_, link, tokens) => {
    expect(referrerTokens(link)).toEqual(tokens);
  });

  it('are the last 16 of other values, behind four of ref_id', () => {
    const values = (name: string) => Array.from({ length: 30 }, (_, index) => `${name}-value-${index}`);
    const query = [
      ...values('other').map((value) => `x=${value}`),
      ...values('named').map((value) => `ref_id=${value}`),
    ];

    expect(referrerTokens(`https://example.com/?${query.join('&')}`)).toEqual([
      ...values('named').slice(0, 4),
      ...values('other').slice(-16),
    ]);
  });

  it.each([
    '',
    '   ',
    'null',
    'undefined',
    'not a URL at all',
    'https://example.com/',
    'https://example.com/?ref_id=',
    'https://example.com/?ref_id=null',
    'https://example.com/?ref_id=%',
    'https://example.com/?ref_id=%ff%00',
    'https://example.com/?ref_id=12345',
    `https://example.com/?ref_id=${'x'.repeat(33)}`,
    `https://example.com/?ref_id=${TOKEN}!`,
    `https://example.com/${TOKEN}`,
    '???###&&&===',
    '\ud800?ref_id=\udfff',
  ])('are none in %j', (link) => {
    expect(referrerTokens(link)).toEqual([]);
  });
});
