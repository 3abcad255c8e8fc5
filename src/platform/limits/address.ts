import { BlockList, isIP } from 'node:net';
import rateLimit from '@fastify/rate-limit';

/** The least that a subscriber is given, and can pick addresses from at will. */
const IPV6_SUBSCRIBER_BITS = 64;

/** By what an address is counted: an IPv6 one by its network; an IPv4 one that is written as IPv6 as itself. */
export function addressKey(address: string, ipv6Bits = IPV6_SUBSCRIBER_BITS): string {
  return rateLimit.normalizeIP(address, ipv6Bits);
}

/** What requests or connections hold at present, counted by their address. */
export class HeldByAddress {
  private readonly held = new Map<string, number>();

  /** Null where the address would then hold more than `max`; else it holds that much more, until what this gives is called. */
  take(address: string, amount: number, max: number): (() => void) | null {
    const key = addressKey(address);
    const sum = (this.held.get(key) ?? 0) + amount;
    if (sum > max) return null;
    this.held.set(key, sum);
    return () => {
      const left = (this.held.get(key) ?? 0) - amount;
      if (left > 0) this.held.set(key, left);
      else this.held.delete(key);
    };
  }
}

/** Whether an address is one of these addresses or in one of these networks. */
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
