import { BlockList, isIP, isIPv4, isIPv6 } from 'node:net';
import type { FastifyInstance } from 'fastify';
import ipaddr from 'ipaddr.js';

/** The smallest IPv6 network that a subscriber gets. One host can use all its addresses. */
const SUBSCRIBER_BITS = 64;
/** The largest IPv6 network that providers give to one site. */
export const SITE_BITS = 48;
/** The first 16 bits of 6to4 (RFC 3056): each IPv4 address has a /48 there, so an IPv4 network has many. */
const SIX_TO_FOUR = 0x2002;

/** The key by which an address is counted: the network of an IPv6 address; an IPv4-mapped or 6to4 address as IPv4. */
export function addressKey(address: string, ipv6Bits = SUBSCRIBER_BITS): string {
  if (!isIPv6(address)) return address.toLowerCase();
  // Without its zone, the interface of a link-local address: ipaddr.js does not read every name of an interface.
  const parsed = ipaddr.process(address.split('%', 1)[0] ?? '');
  if (parsed instanceof ipaddr.IPv4) return parsed.toString();
  if (parsed.parts[0] === SIX_TO_FOUR) return new ipaddr.IPv4(parsed.toByteArray().slice(2, 6)).toString();
  const network = parsed.parts.slice(0, ipv6Bits / 16).map((group) => group.toString(16));
  return `${network.join(':')}::`;
}

/** The network that providers give to one site: an IPv4 /24 or an IPv6 /48. */
export function siteKey(address: string): string {
  const key = addressKey(address, SITE_BITS);
  return isIPv4(key) ? key.replace(/\d+$/, '0') : key;
}

/** An address with the port that some proxies add: `192.0.2.7:4711`, `[2001:db8::7]:4711`; or in brackets only. */
const WITH_PORT = /^(?:\[([^\]]+)\]|([\d.]+))(?::\d+)?$/;

/**
 * Lets Fastify read each address of `X-Forwarded-For` that has brackets or a port. An element that is no address is cut
 * off with all before it: the request then counts for the proxy that wrote it, so nobody can invent addresses. Add it
 * before any hook that reads `request.ip`.
 */
export function readForwardedAddresses(fastify: FastifyInstance): void {
  fastify.addHook('onRequest', ({ headers }, _, done) => {
    const forwarded = headers['x-forwarded-for'];
    if (typeof forwarded === 'string') headers['x-forwarded-for'] = trailingAddresses(forwarded).join(', ');
    done();
  });
}

function trailingAddresses(forwarded: string): string[] {
  const addresses = forwarded.split(',').map((element) => {
    const text = element.trim();
    const [, bracketed, ipv4] = WITH_PORT.exec(text) ?? [];
    return bracketed ?? ipv4 ?? text;
  });
  return addresses.slice(addresses.findLastIndex((address) => isIP(address) === 0 || address.includes('%')) + 1);
}

/** Bounds the bytes that each address holds at the same time. */
export class PerAddressQuota {
  private readonly held = new Map<string, number>();

  constructor(private readonly max: number) {}

  /** Takes `amount` for the address and returns the function that releases it, or null beyond the quota. */
  take(address: string, amount: number): (() => void) | null {
    const key = addressKey(address);
    const sum = (this.held.get(key) ?? 0) + amount;
    if (sum > this.max) return null;
    this.held.set(key, sum);
    return () => {
      const left = (this.held.get(key) ?? 0) - amount;
      if (left > 0) this.held.set(key, left);
      else this.held.delete(key);
    };
  }
}

/** Tests whether an address belongs to a list of addresses and networks. */
export function isWithin(networks: readonly string[]): (address: string) => boolean {
  if (networks.length === 0) return () => false;
  const list = new BlockList();
  for (const network of networks) {
    const [address = '', bits] = network.split('/');
    const family = familyOf(address);
    if (bits === undefined) list.addAddress(address, family);
    else list.addSubnet(address, Number(bits), family);
  }
  return (address) => list.check(address, familyOf(address));
}

function familyOf(address: string): 'ipv4' | 'ipv6' {
  return isIP(address) === 6 ? 'ipv6' : 'ipv4';
}
