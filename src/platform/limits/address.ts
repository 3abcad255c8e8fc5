import rateLimit from '@fastify/rate-limit';

/**
 * By what an address is counted: an IPv6 one by its /64, the least that a subscriber is given and can pick addresses
 * from at will; an IPv4 one that is written as IPv6 as itself.
 */
export function addressKey(address: string): string {
  return rateLimit.normalizeIP(address);
}
