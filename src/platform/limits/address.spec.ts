import { describe, expect, it } from '@jest/globals';
import { addressKey, siteKey } from './address.js';

describe('an address', () => {
  it.each([
    ['192.0.2.7', '192.0.2.7', '192.0.2.0'],
    ['2001:db8:5:1:a::1', '2001:db8:5:1::', '2001:db8:5::'],
    ['fe80::1%eth0', 'fe80:0:0:0::', 'fe80:0:0::'],
    ['::ffff:192.0.2.7', '192.0.2.7', '192.0.2.0'],
    ['2002:c000:207::1', '192.0.2.7', '192.0.2.0'],
    ['2002:c000:208:ffff::1', '192.0.2.8', '192.0.2.0'],
  ])('%s counts as %s, and its site as %s', (address, key, site) => {
    expect([addressKey(address), siteKey(address)]).toEqual([key, site]);
  });
});
