import { BlockList, isIP } from 'node:net';
import rateLimit from '@fastify/rate-limit';

/** The least that a subscriber is given, and can pick addresses from at will. */
const IPV6_SUBSCRIBER_BITS = 64;

/** By what an address is counted: an IPv6 one by its network; an IPv4 one that is written as IPv6 as itself. */
export function addressKey(address: string, ipv6Bits = IPV6_SUBSCRIBER_BITS): string {
  return rateLimit.normalizeIP(address, ipv6Bits);
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
