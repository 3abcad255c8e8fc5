import type { FastifyRequest } from 'fastify';

/** Whether a header came more than once. RFC 9110, 5.3: readers differ in which of two they take, and a proxy may have checked the other. */
export function isRepeated({ raw }: Pick<FastifyRequest, 'raw'>, name: string): boolean {
  return raw.rawHeaders.filter((text, index) => index % 2 === 0 && text.toLowerCase() === name).length > 1;
}
