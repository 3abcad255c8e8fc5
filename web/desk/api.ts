import createClient, { type FetchResponse } from 'openapi-fetch';
import { fetchOrNotice } from './connection';
import { basePath } from './environment';
import type { paths } from './generated/openapi';
import { Problem } from './problem';
import { authorizedFetch } from './session';

const baseUrl = `${location.origin}${basePath}`;

/** The operations of `openapi/openapi.json`, called as the member who is signed in. */
export const api = createClient<paths>({ baseUrl, fetch: authorizedFetch });

/** Those that need no login, which {@link api} would wait for. */
export const publicApi = createClient<paths>({ baseUrl, fetch: fetchOrNotice });

type Body<T extends Record<string | number, unknown>, Options, Media extends `${string}/${string}`> = NonNullable<
  FetchResponse<T, Options, Media>['data']
>;

/** A successful answer. @throws Problem for any other; TypeError without a connection */
export async function answerOf<
  T extends Record<string | number, unknown>,
  Options,
  Media extends `${string}/${string}`,
>(answer: Promise<FetchResponse<T, Options, Media>>): Promise<{ body: Body<T, Options, Media>; headers: Headers }> {
  const { data, error, response } = await answer;
  if (response.ok) return { body: data as NonNullable<typeof data>, headers: response.headers };
  const isProblem = typeof error === 'object' && error !== null && 'error_code' in error;
  throw isProblem ? Problem.from(error, response.headers.get('retry-after')) : Problem.ofProxy(response.status);
}

/** The body of a successful answer. @throws as `answerOf` */
export async function bodyOf<T extends Record<string | number, unknown>, Options, Media extends `${string}/${string}`>(
  answer: Promise<FetchResponse<T, Options, Media>>,
): Promise<Body<T, Options, Media>> {
  return (await answerOf(answer)).body;
}

/** Whether another page of a listing follows the answer. */
export function hasNextPage(headers: Headers): boolean {
  return headers.has('link');
}
