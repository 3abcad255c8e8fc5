import { hostname } from 'node:os';
import { describe, expect, it } from '@jest/globals';
import { readConfig } from '../platform/config/config.js';
import { SsrfGuard, ForbiddenAddressError } from './ssrf-guard.js';

const guardOf = (networks: string) =>
  new SsrfGuard(
    readConfig({
      DATABASE_URL: 'sqlite::memory:',
      JWT_SECRET: 'a-secret-that-signs-tokens-in-tests-only',
      WEBHOOK_ALLOWED_NETWORKS: networks,
    }),
  );

/** Loopback in the notations that URLs take, and each range of IANA's special-purpose registries. */
const FORBIDDEN = [
  '127.0.0.1',
  '127.0.0.1.',
  '127.1',
  '2130706433',
  '0x7f000001',
  '0x7f.0.0.1',
  '0177.0.0.1',
  '017700000001',
  '%31%32%37.0.0.1',
  'localhost',
  'LOCALHOST',
  'localhost.',
  'api.localhost',
  'api.localhost.',
  '0.0.0.0',
  '0',
  '10.0.0.1',
  '100.64.0.1',
  '169.254.169.254',
  '168.63.129.16',
  '172.16.0.1',
  '172.31.255.255',
  '192.0.0.1',
  '192.0.2.1',
  '192.31.196.1',
  '192.52.193.1',
  '192.88.99.1',
  '192.168.0.1',
  '192.175.48.1',
  '198.18.0.1',
  '198.51.100.1',
  '203.0.113.1',
  '224.0.0.1',
  '240.0.0.1',
  '255.255.255.255',
  '[::]',
  '[::1]',
  '[0:0:0:0:0:0:0:1]',
  '[::127.0.0.1]',
  '[::ffff:127.0.0.1]',
  '[::ffff:7f00:1]',
  '[::ffff:8.8.8.8]',
  '[::ffff:0:127.0.0.1]',
  '[64:ff9b::127.0.0.1]',
  '[64:ff9b::8.8.8.8]',
  '[64:ff9b:1::1]',
  '[100::1]',
  '[100:0:0:1::1]',
  '[2001::1]',
  '[2001:2::1]',
  '[2001:3::1]',
  '[2001:4:112::1]',
  '[2001:10::1]',
  '[2001:20::1]',
  '[2001:30::1]',
  '[2001:db8::1]',
  '[2002:7f00:1::1]',
  '[2002:808:808::1]',
  '[2620:4f:8000::1]',
  '[3fff::1]',
  '[4000::1]',
  '[5f00::1]',
  '[fc00::1]',
  '[fd12:3456::1]',
  '[fe80::1]',
  '[fec0::1]',
  '[ff02::1]',
];
const ROOTS = ['.', '%E3%80%82', '.:8443'];
const PUBLIC = ['8.8.8.8', '8.8.8.8.', '0x08080808', '134744072', '172.32.0.1', '192.0.1.1', '[2606:4700::1111]'];

describe('the guard against SSRF (server-side request forgery)', () => {
  it.each(FORBIDDEN)('refuses %s', async (host) => {
    expect(await guardOf('').isPermitted(new URL(`https://${host}/hook`))).toBe(false);
  });

  it.each(ROOTS)('refuses the root of the DNS (%s), with networks of the operator too', async (host) => {
    for (const networks of ['', '127.0.0.0/8'])
      for (const scheme of ['http', 'https'])
        expect(await guardOf(networks).isPermitted(new URL(`${scheme}://${host}/hook`))).toBe(false);
  });

  it.each(PUBLIC)('accepts %s by https, and not by http', async (host) => {
    const guard = guardOf('');

    expect(await guard.isPermitted(new URL(`https://${host}:8443/hook`))).toBe(true);
    expect(await guard.isPermitted(new URL(`http://${host}/hook`))).toBe(false);
  });

  it('accepts the networks that the operator allows, by http too, and no others', async () => {
    const guard = guardOf('127.0.0.0/8,::1,10.1.0.0/16,fd00::/8');

    for (const host of ['127.0.0.1', '2130706433', '[::ffff:127.0.0.1]', 'localhost', '10.1.2.3', '[fd12::1]', '[::1]'])
      for (const scheme of ['http', 'https'])
        expect([host, await guard.isPermitted(new URL(`${scheme}://${host}/`))]).toEqual([host, true]);
    for (const host of ['10.2.0.1', '192.168.0.1', '169.254.169.254', '[fe80::1]', '8.8.8.8'])
      expect([host, await guard.isPermitted(new URL(`http://${host}/`))]).toEqual([host, false]);
  });

  it('asks for names that the DNS does not have only where own networks are allowed', async () => {
    const url = new URL(`http://${hostname()}/`);
    const signal = AbortSignal.timeout(4_000);

    expect(await guardOf('0.0.0.0/0,::/0').resolve(url, signal)).not.toEqual([]);
    await expect(guardOf('').resolve(url, signal)).rejects.not.toBeInstanceOf(ForbiddenAddressError);
  });

  it('refuses a name if any of its addresses is forbidden', async () => {
    // It has an address of IPv4 and one of IPv6.
    expect(await guardOf('127.0.0.0/8').isPermitted(new URL('http://localhost/'))).toBe(false);
  });
});
