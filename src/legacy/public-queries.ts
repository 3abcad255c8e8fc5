import type { IncomingMessage } from 'node:http';
import { RouteConstraints } from '@nestjs/platform-fastify';
import type { FastifyInstance } from 'fastify';
import type { ConstraintStrategy, HTTPVersion } from 'find-my-way';
import { isAccountKey } from '../platform/secrets/random-key.js';

/*
 * Two paths have both a public GET of an earlier generation and an owner's GET of the current one. The router chooses
 * by query and headers: the public route has a constraint and gets the requests that meet it; the owner's gets all
 * others. Either route is safe for any request: the owner's authenticates its caller, the public one shows public data.
 */

const NAMES_PERSON = /[?&](?:email|phone|uuid)=/;
const NAMES_WAITLIST = /[?&](?:waitlist_id|api_key)=/;
const MET = 'fulfilled';

/** Takes requests without credentials if the query names a person. The owner's route refuses invalid credentials. */
export const PublicLookup = () => RouteConstraints({ [LOOKUP.name]: MET });

/** Takes requests with or without credentials if the query names a waitlist. */
export const OfNamedWaitlist = () => RouteConstraints({ [VIEW.name]: MET });

/** Call before the routes are added. */
export function addQueryConstraints(fastify: FastifyInstance): void {
  fastify.addConstraintStrategy(LOOKUP);
  fastify.addConstraintStrategy(VIEW);
}

const LOOKUP = strategy(
  'isPublicLookup',
  ({ url = '', headers }) =>
    headers.authorization === undefined && NAMES_PERSON.test(url) && !isAccountKey(headers['api-key']),
);
const VIEW = strategy('isOfNamedWaitlist', ({ url = '' }) => NAMES_WAITLIST.test(url));

/** The router evaluates this for each request of any path, so it must be fast. */
function strategy(name: string, isMet: (request: IncomingMessage) => boolean): ConstraintStrategy<HTTPVersion.V1> {
  return { name, deriveConstraint: (request) => (isMet(request) ? MET : ''), storage: () => new Map() };
}
