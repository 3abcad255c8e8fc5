import { BlockList, isIP } from 'node:net';
import rateLimit from '@fastify/rate-limit';

/** The smallest network that an IPv6 subscriber gets. The subscriber can use any address in it. */
const IPV6_SUBSCRIBER_BITS = 64;

/** The key by which an address is counted: the network of an IPv6 address; an IPv4-mapped IPv6 address as IPv4. */
export function addressKey(address: string, ipv6Bits = IPV6_SUBSCRIBER_BITS): string {
  return rateLimit.normalizeIP(address, ipv6Bits);
}

/** Bounds what each address holds at the same time: connections or bytes. */
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
