import { BlockList, isIP, isIPv6 } from 'node:net';
import ipaddr from 'ipaddr.js';

/** The smallest IPv6 network that a subscriber gets, in 16-bit groups: 64 bits, whose addresses one host can use at will. */
const IPV6_NETWORK_GROUPS = 4;

/** What an address counts as: an IPv6 address as its /64 network, and an IPv4 address written as IPv6 as itself. */
export function addressKey(address: string): string {
  if (!isIPv6(address)) return address.toLowerCase();
  const parsed = ipaddr.process(address);
  if (parsed instanceof ipaddr.IPv4) return parsed.toString();
  const network = parsed.parts.slice(0, IPV6_NETWORK_GROUPS).map((group) => group.toString(16));
  return `${network.join(':')}::`;
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
