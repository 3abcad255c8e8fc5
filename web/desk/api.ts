import createClient, { type FetchResponse } from 'openapi-fetch';
import { basePath } from './environment';
import type { paths } from './generated/openapi';
import { Problem } from './problem';
import { authorizedFetch } from './session';

/** The operations of `openapi/openapi.json`, called as the owner who is signed in. */
export const api = createClient<paths>({ baseUrl: `${location.origin}${basePath}`, fetch: authorizedFetch });

/** The body of a successful answer. @throws Problem for any other; TypeError without a connection */
export async function bodyOf<T extends Record<string | number, unknown>, Options, Media extends `${string}/${string}`>(
  answer: Promise<FetchResponse<T, Options, Media>>,
): Promise<NonNullable<FetchResponse<T, Options, Media>['data']>> {
  const { data, error, response } = await answer;
  if (response.ok) return data as NonNullable<typeof data>;
  const isProblem = typeof error === 'object' && error !== null && 'error_code' in error;
  throw isProblem ? Problem.from(error, response.headers.get('retry-after')) : Problem.ofProxy(response.status);
}
