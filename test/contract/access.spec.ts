import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { MetadataScanner, ModulesContainer, Reflector } from '@nestjs/core';
import { WHO_MAY_CALL, type WhoMayCall } from '../../src/platform/http/public.js';
import { NEED } from '../../src/auth/access.js';
import { NEEDS, withKeyNeed } from './needs.js';
import { type CallableOperation, operationsOf } from '../support/operations.js';
import { type Service, startService } from '../support/service.js';
import type { OwnedWaitlist } from '../support/world.js';

/** Operations that anyone may call. A new one must be added here, where a reviewer sees it. */
const PUBLIC_OPERATIONS = [
  'acceptInvitation',
  'createHeartbeat',
  'createSession',
  'createSignup',
  'createTokens',
  'createWaiter',
  'finishSingleSignOn',
  'getLeaderboard',
  'getPlace',
  'getSignInMethods',
  'getSignup',
  'getUserStatus',
  'getWaiter',
  'getWaiterLeaderboard',
  'getWaitlist',
  'logOut',
  'requestPasswordReset',
  'resendVerification',
  'resetPassword',
  'startSingleSignOn',
  'submitUser',
  'viewInvitation',
  'viewWaitlist',
  'watchPlace',
];
/** Operations that need a login: no account key opens them, and none is read. */
const KEYLESS_OPERATIONS = withKeyNeed('unread');
/** Operations that read an account key, and refuse it. */
const MEMBER_OPERATIONS = withKeyNeed('refused');
/** Operations with a cookie answer pages of the service only. */
const OWN_PAGE = { 'sec-fetch-site': 'same-origin' };
/** Paths for the cluster only: no route of the chart leads to them. */
const INTERNAL_PATHS = ['/livez', '/readyz', '/metrics'];
/** Every route, as Fastify prints them. A new one must be added here too. */
const ROUTES = `
├── / (GET, HEAD)
│   ├── openapi.json (GET, HEAD)
│   ├── openapi-legacy.json (GET, HEAD)
│   ├── docs (GET, HEAD)
│   │   ├── /assets/favicon.svg (GET, HEAD)
│   │   ├── /assets/page.css (GET, HEAD)
│   │   ├── /assets/start.js (GET, HEAD)
│   │   ├── /assets/swagger-ui.css (GET, HEAD)
│   │   ├── /assets/swagger-ui-bundle.js (GET, HEAD)
│   │   ├── /assets/widget-demo.css (GET, HEAD)
│   │   ├── /assets/widget-demo.js (GET, HEAD)
│   │   ├── /legacy (GET, HEAD)
│   │   ├── /errors (GET, HEAD)
│   │   └── /widget (GET, HEAD)
│   ├── desk (GET, HEAD)
│   │   └── * (GET, HEAD)
│   ├── livez (GET, HEAD)
│   ├── readyz (GET, HEAD)
│   ├── metrics (GET)
│   ├── api/v1/auth/methods (GET)
│   ├── api/v1/auth/create_tokens (POST)
│   ├── api/v1/auth/refresh_access_token (GET)
│   ├── api/v1/auth/password (POST)
│   │   ├── /forgotten (POST)
│   │   └── /reset (POST)
│   ├── api/v1/auth/session (POST, DELETE, GET)
│   │   ├── /refresh (POST)
│   │   └── /:id (DELETE)
│   ├── api/v1/auth/sso (GET)
│   │   ├── /callback (GET)
│   │   └── /link (POST)
│   ├── api/v1/auth/two_factor (POST)
│   │   ├── /confirm (POST)
│   │   ├── /recovery_codes (POST)
│   │   └── /disable (POST)
│   ├── api/v1/auth/invitation (POST)
│   │   └── /accept (POST)
│   ├── api/v1/audit (GET)
│   ├── api/v1/account (GET, PATCH)
│   ├── api/v1/api_key (POST, GET)
│   │   └── /:id (DELETE)
│   ├── api/v1/member (GET, POST)
│   │   ├── /me (GET, PATCH)
│   │   └── /:id (PATCH, DELETE)
│   │       ├── /invitation (POST)
│   │       ├── /password_reset (POST)
│   │       └── /two_factor (DELETE)
│   ├── api/v1/waitlist (POST, GET)
│   │   api/v1/waitlist (GET) {"isOfNamedWaitlist":"fulfilled"}
│   │   ├── /:waitlist_id (PATCH, DELETE, GET)
│   │   │   ├── /api_key (POST)
│   │   │   ├── /leaderboard (GET)
│   │   │   ├── /statistics (GET)
│   │   │   ├── /reorder (GET)
│   │   │   ├── /release (GET, POST)
│   │   │   ├── /refuse_referrals (POST)
│   │   │   ├── /return (POST)
│   │   │   ├── /mail_preview (GET)
│   │   │   ├── /mail_test (POST)
│   │   │   ├── /decide_referrals (POST)
│   │   │   ├── /offer (POST)
│   │   │   ├── /import (POST, GET)
│   │   │   ├── /export (GET)
│   │   │   └── /webhook (POST, GET)
│   │   │       └── /:webhook_id (PATCH, DELETE)
│   │   │           ├── /secret (POST)
│   │   │           ├── /test (POST)
│   │   │           ├── /delivery (GET)
│   │   │           └── /replay (POST)
│   │   └── s/submit (POST)
│   ├── api/v1/waiter (GET, PATCH, POST)
│   │   api/v1/waiter (GET) {"isPublicLookup":"fulfilled"}
│   │   └── /:waitlist_id/leaderboard (GET)
│   ├── api/v1/widget_heartbeats (POST)
│   ├── api/v1/signup (POST, GET, PATCH, DELETE)
│   │   ├── /place (GET)
│   │   ├── /events (GET)
│   │   ├── /resend_verification (POST)
│   │   ├── /waitlist/:waitlist_id (GET)
│   │   └── /:uuid (GET, PATCH)
│   │       └── /offer_link (POST)
│   ├── api/v1/offer/check (POST)
│   ├── api/v1/offer/accept (POST)
│   ├── api/v1/users/status (POST)
│   ├── waitlist/assets/page.css (GET, HEAD)
│   ├── waitlist/assets/page.js (GET, HEAD)
│   ├── waitlist/:waitlist_id (GET, HEAD)
│   │   ├── /find (GET, HEAD, POST)
│   │   ├── /status/:uuid (GET, HEAD)
│   │   │   ├── /resend (POST)
│   │   │   ├── /leave (POST)
│   │   │   └── /offer (POST)
│   │   ├── /verify/:token (GET, HEAD, POST)
│   │   ├── /leave/:token (GET, HEAD, POST)
│   │   └── /offer/:code (GET, HEAD)
│   │       ├── /accept (GET, HEAD, POST)
│   │       └── /decline (GET, HEAD, POST)
│   ├── widget.js (GET, HEAD)
│   ├── widget/texts/ar.json (GET, HEAD)
│   ├── widget/texts/de.json (GET, HEAD)
│   ├── widget/texts/en.json (GET, HEAD)
│   ├── widget/texts/es.json (GET, HEAD)
│   ├── widget/texts/fr.json (GET, HEAD)
│   ├── widget/texts/it.json (GET, HEAD)
│   ├── widget/texts/ja.json (GET, HEAD)
│   ├── widget/texts/nl.json (GET, HEAD)
│   ├── widget/texts/pl.json (GET, HEAD)
│   ├── widget/texts/pt-BR.json (GET, HEAD)
│   ├── widget/texts/tr.json (GET, HEAD)
│   └── widget/texts/zh-Hans.json (GET, HEAD)
└── * (OPTIONS)
`;

/** The paths of a tree like {@link ROUTES}. */
function pathsOf(tree: string): string[] {
  const above: string[] = [];
  return [...tree.matchAll(/^((?:[│ ] {3})*)[├└]── (\/\S*|\S+) \((?!OPTIONS\))/gm)].map(([, indent, part]) => {
    above.length = indent!.length / 4;
    above.push(part!);
    // Fastify prints `/desk/*` as `*` below `desk`.
    return above.join('').replace(/(?<!\/)\*$/, '/*');
  });
}

describe('the operations', () => {
  let service: Service;
  let waitlist: OwnedWaitlist;
  let operations: CallableOperation[];
  beforeAll(async () => {
    service = await startService();
    waitlist = await service.world.waitlist();
    operations = await operationsOf(service.api, waitlist.id);
  });
  afterAll(() => service.stop());

  const idsOf = (list: typeof operations) => list.map(({ operation }) => operation.operationId).sort();

  it('can be called without a token only if they are listed as public', async () => {
    const open = [];
    for (const called of operations) {
      const { status, headers } = await service.api.call(called.method, called.path, undefined, { headers: OWN_PAGE });
      if (status === 401) expect(headers['www-authenticate']).toBe('Bearer');
      else open.push(called);
    }

    expect(idsOf(open)).toEqual(PUBLIC_OPERATIONS);
    expect(operations.length).toBeGreaterThan(open.length);
    expect(await service.world.list(waitlist)).toEqual([]);
  });

  it('refuse a forged token unless they are public', async () => {
    for (const { method, path, operation } of operations) {
      if (PUBLIC_OPERATIONS.includes(operation.operationId)) continue;
      const { status, headers } = await service.api.call(method, path, undefined, {
        token: 'made.up.token',
        headers: OWN_PAGE,
      });
      expect([operation.operationId, status]).toEqual([operation.operationId, 401]);
      const takesToken = operation.operationId !== 'refreshSession';
      expect(headers['www-authenticate']).toBe(takesToken ? 'Bearer error="invalid_token"' : 'Bearer');
    }
  });

  it.each([
    ['the key of a waitlist', () => waitlist.api_key, 'MISSING_TOKEN'],
    ['an unknown account key', () => 'f'.repeat(64), 'INVALID_ACCOUNT_KEY'],
  ])('refuse %s in place of a token unless they are public', async (_, key, code) => {
    for (const { method, path, operation } of operations) {
      if (PUBLIC_OPERATIONS.includes(operation.operationId)) continue;
      const answer = await service.api.call(method, path, undefined, { headers: { ...OWN_PAGE, 'api-key': key() } });
      const takesKeys = !KEYLESS_OPERATIONS.includes(operation.operationId);
      expect([operation.operationId, answer.status, (answer.body as { error_code: string }).error_code]).toEqual([
        operation.operationId,
        401,
        takesKeys ? code : operation.operationId === 'refreshSession' ? 'NO_SESSION' : 'MISSING_TOKEN',
      ]);
      expect(answer.headers['www-authenticate']).toBe('Bearer');
    }
  });

  it('accept an account key where the contract says so, with the scope read for reading only', async () => {
    const body = { name: 'Reader', scope: 'read' };
    const { key } = (await service.api.post('/api/v1/api_key', body, { token: waitlist.owner.token })).body;
    const refused = [];
    for (const called of operations) {
      const { method, path } = called;
      const { status } = await service.api.call(method, path, undefined, { headers: { ...OWN_PAGE, 'api-key': key } });
      if (status === 401 || status === 403) refused.push({ ...called, status });
    }

    const takesKeys = ({ operation: { security = [] } }: (typeof operations)[number]) =>
      security.some((scheme) => 'account_key' in scheme);
    const forbidden = refused.filter(({ status }) => status === 403);
    expect(idsOf(forbidden)).toEqual(withKeyNeed('manage', 'refused'));
    expect(idsOf(refused.filter(({ status }) => status === 401))).toEqual(KEYLESS_OPERATIONS);
    const withoutKeys = idsOf(operations.filter((called) => !takesKeys(called)));
    expect(withoutKeys.filter((id) => !PUBLIC_OPERATIONS.includes(id))).toEqual(
      [...KEYLESS_OPERATIONS, ...MEMBER_OPERATIONS].sort(),
    );
  });

  it('require a token in the contract unless they are public', () => {
    // An empty security requirement makes the token optional.
    const isOptional = (security: readonly object[]) => security.some((scheme) => Object.keys(scheme).length === 0);
    const withoutSecurity = operations.filter(
      ({ operation: { security = [] } }) => security.length === 0 || isOptional(security),
    );

    expect(idsOf(withoutSecurity)).toEqual(PUBLIC_OPERATIONS);
  });

  it('have no routes but the listed ones', () => {
    const fastify = service.app.getHttpAdapter().getInstance();

    expect(fastify.printRoutes({ commonPrefix: false }).trim()).toBe(ROUTES.trim());
  });

  it('can be reached through the routes of the chart, but for the probes and the metrics', () => {
    const paths = pathsOf(service.app.getHttpAdapter().getInstance().printRoutes({ commonPrefix: false }));
    // deploy/check renders the chart to this file.
    const lines = readFileSync('deploy/routes.txt', 'utf8').trim().split('\n');
    const routes = lines.map((line) => line.split(' ') as [kind: string, type: string, path: string]);

    for (const kind of ['Ingress', 'HTTPRoute']) {
      const own = routes.filter((route) => route[0] === kind);
      const isExposed = (path: string) =>
        own.some(([, type, route]) => path === route || (type !== 'Exact' && path.startsWith(`${route}/`)));
      expect(paths.filter((path) => !isExposed(path))).toEqual(INTERNAL_PATHS);
      const isUsed = ([, , route]: (typeof own)[number]) =>
        paths.some((path) => path === route || path.startsWith(`${route}/`));
      expect(own.filter((route) => !isUsed(route))).toEqual([]);
    }
  });

  it('have handlers that all declare their callers', () => {
    const reflector = service.app.get(Reflector);
    const scanner = new MetadataScanner();
    const handlers = [...service.app.get(ModulesContainer).values()]
      .flatMap(({ controllers }) => [...controllers.values()])
      .flatMap(({ metatype }) =>
        scanner.getAllMethodNames(metatype!.prototype as object).map((name) => ({
          name: `${metatype!.name}.${name}`,
          operationId: name,
          need: reflector.get<{ role: string; scope: string | null } | undefined>(
            NEED,
            (metatype!.prototype as Record<string, () => unknown>)[name]!,
          ),
          declared: reflector.getAllAndOverride<WhoMayCall | undefined>(WHO_MAY_CALL, [
            (metatype!.prototype as Record<string, () => unknown>)[name]!,
            metatype as new () => object,
          ]),
        })),
      );

    expect(handlers.filter(({ declared }) => declared === undefined)).toEqual([]);
    const open = handlers.filter(({ declared }) => declared === 'public');
    expect(open.map(({ operationId }) => operationId).sort()).toEqual(PUBLIC_OPERATIONS);
    const needs = handlers
      .filter(({ declared }) => declared !== 'public')
      .map(({ operationId, need }) => [operationId, need?.role, need?.scope]);
    const listed = Object.entries(NEEDS).map(([id, [role, key]]) => [
      id,
      role,
      ['refused', 'unread'].includes(key) ? null : key,
    ]);
    expect(needs.sort()).toEqual(listed.sort());
  });

  it('say in the contract which role they need, and which scope', () => {
    const said = operations
      .map(({ operation }) => operation as typeof operation & Readonly<Record<string, string | undefined>>)
      .filter((operation) => operation['x-required-role'] !== undefined)
      .map(({ operationId, ...operation }) => {
        const [role, scope] = [operation['x-required-role']!, operation['x-required-scope']];
        expect(operation.description).toContain(role === 'viewer' ? 'Any member' : `the role \`${role}\``);
        return [operationId, role, scope ?? 'none'];
      });

    const listed = Object.entries(NEEDS).map(([id, [role, key]]) => [
      id,
      role,
      ['refused', 'unread'].includes(key) ? 'none' : key,
    ]);
    expect(said.sort()).toEqual(listed.sort());
  });
});
