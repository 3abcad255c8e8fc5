import dns from 'node:dns/promises';
import { isIP } from 'node:net';
import { Inject, Injectable } from '@nestjs/common';
import { Mutex } from 'async-mutex';
import ipaddr from 'ipaddr.js';
import { type Config, CONFIG } from '../platform/config/config.js';
import { isWithin } from '../platform/limits/address.js';

/** How long saving a URL waits for the DNS. A name not found by then is checked at each call. */
const CHECK_MS = 2_000;
/** The block from which IANA assigns global unicast addresses. */
const GLOBAL_IPV6 = ipaddr.IPv6.parseCIDR('2000::/3');
/** A global unicast address that Azure routes to the host of the machine, which has its metadata (WireServer). */
const AZURE_HOST = '168.63.129.16';
/** RFC 6761: never asked of the DNS. */
const LOCALHOST = /^(?:.+\.)?localhost$/;
const LOOPBACK = ['127.0.0.1', '::1'];
/** The DNS has no such name or address, or there is no DNS. */
const NOT_IN_DNS = ['ENOTFOUND', 'ENODATA', 'ECONNREFUSED'];

/** The URL leads to an address that the service must not call. */
export class ForbiddenAddressError extends Error {}

/**
 * Prevents server-side request forgery (SSRF): a webhook must not reach this machine, its network, or a cloud's
 * metadata service. The caller connects to a returned address and does not ask the DNS again: the answer may differ.
 */
@Injectable()
export class SsrfGuard {
  private readonly isAllowed: (address: string) => boolean;
  /** Names of the hosts file, or those that a search domain completes, are names of own networks. */
  private readonly hasOwnNames: boolean;
  /** One `lookup` at a time: each holds one of Node's few threads until the DNS answers. */
  private readonly lookups = new Mutex();

  constructor(@Inject(CONFIG) { webhookAllowedNetworks }: Config) {
    this.isAllowed = isWithin(webhookAllowedNetworks);
    this.hasOwnNames = webhookAllowedNetworks.length > 0;
  }

  /** Whether a webhook may have this URL. A name that the DNS does not find now is checked when it is called. */
  async isPermitted(url: URL): Promise<boolean> {
    try {
      await this.resolve(url, AbortSignal.timeout(CHECK_MS));
      return true;
    } catch (error) {
      return !(error instanceof ForbiddenAddressError) && url.protocol === 'https:';
    }
  }

  /**
   * The addresses of the URL's host.
   * @throws ForbiddenAddressError if one of them must not be called; an error of the DNS; the reason of the signal
   */
  async resolve({ protocol, hostname }: URL, signal: AbortSignal): Promise<readonly string[]> {
    const addresses = await unlessAborted(this.addressesOf(hostname, signal), signal);
    if (!addresses.every((address) => this.isReachable(protocol, address))) throw new ForbiddenAddressError();
    return addresses;
  }

  /** `hostname` is that of a URL, whose parser has turned each notation of an IPv4 address into the usual one. */
  private async addressesOf(hostname: string, signal: AbortSignal): Promise<string[]> {
    const host = hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '');
    // The root of the DNS, which has no address.
    if (host === '') throw new ForbiddenAddressError();
    if (isIP(host) !== 0) return [host];
    if (LOCALHOST.test(host)) return LOOPBACK;
    const answers = await Promise.allSettled([dns.resolve4(host), dns.resolve6(host)]);
    const found = answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
    if (found.length > 0) return found;
    for (const answer of answers)
      if (
        answer.status === 'rejected' &&
        (!this.hasOwnNames || !NOT_IN_DNS.includes((answer.reason as { code: string }).code))
      )
        throw answer.reason;
    return this.lookups.runExclusive(async () => {
      signal.throwIfAborted();
      return (await dns.lookup(host, { all: true })).map(({ address }) => address);
    });
  }

  private isReachable(protocol: string, address: string): boolean {
    return this.isAllowed(address) || (protocol === 'https:' && isGlobalUnicast(address));
  }
}

/** Whether an address is in none of IANA's special-purpose registries. One that embeds an IPv4 address is special. */
export function isGlobalUnicast(address: string): boolean {
  const parsed = ipaddr.parse(address);
  if (parsed instanceof ipaddr.IPv4) return parsed.range() === 'unicast' && parsed.toString() !== AZURE_HOST;
  return parsed.range() === 'unicast' && parsed.match(GLOBAL_IPV6);
}

/** The result of `work`, or the signal's reason once it aborts. */
async function unlessAborted<Result>(work: Promise<Result>, signal: AbortSignal): Promise<Result> {
  return new Promise((resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
    work.then(resolve, reject);
  });
}
