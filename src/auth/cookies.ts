import type { FastifyRequest } from 'fastify';
import type { Config } from '../platform/config/config.js';

/** The attributes of a cookie that only operations below `path` get, and no script. */
export function cookieAttributes(
  { publicBaseUrl, basePath }: Pick<Config, 'publicBaseUrl' | 'basePath'>,
  path: string,
  sameSite: 'Strict' | 'Lax',
): string {
  const secure = new URL(publicBaseUrl).protocol === 'https:' ? '; Secure' : '';
  return `Path=${basePath}/${path}; HttpOnly; SameSite=${sameSite}${secure}`;
}

/** The value of a cookie; null also with two of them, because another host of the domain may have set one. */
export function cookieOf({ headers }: Pick<FastifyRequest, 'headers'>, name: string): string | null {
  const cookies = (headers.cookie ?? '').split(';').map((cookie) => cookie.trim());
  const [found, ...others] = cookies.filter((cookie) => cookie.startsWith(`${name}=`));
  return found === undefined || others.length > 0 ? null : found.slice(name.length + 1);
}
