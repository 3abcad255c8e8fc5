import type { IncomingMessage } from 'node:http';
import { RouteConstraints } from '@nestjs/platform-fastify';
import type { FastifyInstance } from 'fastify';
import type { ConstraintStrategy, HTTPVersion } from 'find-my-way';

/*
 * Two paths have a public GET of an earlier generation beside an owner's GET of the current one. The router tells them
 * apart, by the query and the headers: a route with a constraint takes the requests that fulfill it, the owner's route all
 * others. Either route is safe for any request: the owner's authenticates its caller, the public one shows public data.
 */

const PERSON = /[?&](?:email|phone|uuid)=/;
const WAITLIST = /[?&](?:waitlist_id|api_key)=/;
/** Scripts send the key of a waitlist in this header, and pages send placeholders; neither has this form. */
const ACCOUNT_KEY = /^[\da-f]{64}$/i;
const FULFILLED = 'fulfilled';

/** Takes requests without credentials whose query names a person. Others are the owner's: a bad credential is refused there. */
export const PublicLookup = () => RouteConstraints({ [LOOKUP.name]: FULFILLED });

/** Takes requests whose query names a waitlist, with or without credentials. */
export const OfNamedWaitlist = () => RouteConstraints({ [VIEW.name]: FULFILLED });

/** Call before the routes are added. */
export function tellQueriesApart(fastify: FastifyInstance): void {
  fastify.addConstraintStrategy(LOOKUP);
  fastify.addConstraintStrategy(VIEW);
}

const LOOKUP = strategy('isPublicLookup', ({ url = '', headers }) => {
  const hasAccountKey = ACCOUNT_KEY.test(String(headers['api-key']));
  return headers.authorization === undefined && !hasAccountKey && PERSON.test(url);
});
const VIEW = strategy('isOfNamedWaitlist', ({ url = '' }) => WAITLIST.test(url));

/** The router evaluates this for each request of any path, so it must be fast. */
function strategy(
  name: string,
  isFulfilled: (request: IncomingMessage) => boolean,
): ConstraintStrategy<HTTPVersion.V1> {
  return {
    name,
    deriveConstraint: (request) => (isFulfilled(request) ? FULFILLED : ''),
    storage: () => new Map(),
  };
}
