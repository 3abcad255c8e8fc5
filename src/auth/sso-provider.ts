import { Inject, Injectable } from '@nestjs/common';
import type { Configuration, CustomFetch, ServerMetadata } from 'openid-client';
import { type Config, CONFIG } from '../platform/config/config.js';
import { SsoRefusal } from '../account/sso-refusal.js';
import { type Claims, isIncomplete, mergedClaims, type SsoSettings } from './sso-claims.js';

/** All that one step of a sign-in waits for the provider. */
export const PROVIDER_MS = 10_000;
/** What the provider publishes about itself is read anew after this time. */
const METADATA_MS = 60_000;
/** RFC 6749's codes, and those of the library. Other text could be anything. */
const ERROR_CODE = /^[\w-]{1,60}$/;

/** What a browser keeps between the two steps, so that only the answer to its own request is accepted. */
export interface Checks {
  readonly state: string;
  readonly nonce: string;
  readonly verifier: string;
}

/** The provider did not answer, or with an error of its own. */
class Unavailable extends Error {
  override readonly name = 'Unavailable';
}

/** The provider of single sign-on: OpenID Connect, authorization code flow with PKCE, by a certified library. */
@Injectable()
export class SsoProvider {
  private known: { readonly metadata: Promise<ServerMetadata>; readonly untilMs: number } | null = null;

  constructor(@Inject(CONFIG) private readonly config: Config) {}

  /** Where the browser signs in, and what it keeps until it is back. @throws SsoRefusal `SSO_UNAVAILABLE` */
  async begin(settings: SsoSettings): Promise<{ readonly url: string; readonly checks: Checks }> {
    const library = await load();
    const client = await this.client(settings, callWithin(PROVIDER_MS));
    const checks = {
      state: library.randomState(),
      nonce: library.randomNonce(),
      verifier: library.randomPKCECodeVerifier(),
    };
    const url = library.buildAuthorizationUrl(client, {
      redirect_uri: this.callback,
      scope: settings.scopes.join(' '),
      state: checks.state,
      nonce: checks.nonce,
      code_challenge: await library.calculatePKCECodeChallenge(checks.verifier),
      code_challenge_method: 'S256',
    });
    return { url: url.href, checks };
  }

  /**
   * Who signed in, by the query with which the browser came back.
   * @throws SsoRefusal `SSO_UNAVAILABLE`; `SSO_REFUSED` for whatever is wrong with the answer
   */
  async finish(settings: SsoSettings, query: string, { state, nonce, verifier }: Checks): Promise<Claims> {
    const library = await load();
    const client = await this.client(settings, callWithin(PROVIDER_MS));
    try {
      const tokens = await library.authorizationCodeGrant(client, new URL(`${this.callback}?${query}`), {
        expectedState: state,
        expectedNonce: nonce,
        pkceCodeVerifier: verifier,
        idTokenExpected: true,
      });
      const claims = tokens.claims()!;
      if (!isIncomplete(claims, settings) || !client.serverMetadata().userinfo_endpoint) return claims;
      return mergedClaims(claims, await library.fetchUserInfo(client, tokens.access_token, claims.sub));
    } catch (error) {
      const isOfLibrary =
        error instanceof TypeError ||
        error instanceof library.ClientError ||
        error instanceof library.ResponseBodyError ||
        error instanceof library.AuthorizationResponseError ||
        error instanceof library.WWWAuthenticateChallengeError;
      throw isOfLibrary ? refusal('SSO_REFUSED', error) : error;
    }
  }

  private get callback(): string {
    return `${this.config.publicBaseUrl}/api/v1/auth/sso/callback`;
  }

  /** A client for one step: the provider's keys are read each time, so a changed one is noticed at once. */
  private async client({ clientId, clientSecret, issuer }: SsoSettings, call: CustomFetch): Promise<Configuration> {
    const library = await load();
    const metadata = await this.metadata(issuer, clientId, call);
    const { token_endpoint_auth_methods_supported: methods = ['client_secret_basic'] } = metadata;
    const isBasic = methods.includes('client_secret_basic');
    const authentication = (isBasic ? library.ClientSecretBasic : library.ClientSecretPost)(clientSecret);
    const client = new library.Configuration(metadata, clientId, {}, authentication);
    client[library.customFetch] = call;
    // The library would trust the connection, and not read the signature of the ID token.
    library.enableNonRepudiationChecks(client);
    if (isInsecure(issuer)) library.allowInsecureRequests(client);
    return client;
  }

  /** What the provider publishes about itself; a failure is not kept. */
  private async metadata(issuer: string, clientId: string, call: CustomFetch): Promise<ServerMetadata> {
    if (!this.known || this.known.untilMs < Date.now())
      this.known = { metadata: discover(issuer, clientId, call), untilMs: Date.now() + METADATA_MS };
    const { known } = this;
    try {
      return await known.metadata;
    } catch (error) {
      if (this.known === known) this.known = null;
      throw refusal('SSO_UNAVAILABLE', error);
    }
  }
}

async function discover(issuer: string, clientId: string, call: CustomFetch): Promise<ServerMetadata> {
  const library = await load();
  const execute = isInsecure(issuer) ? [library.allowInsecureRequests] : [];
  const options = { execute, [library.customFetch]: call };
  const metadata = (await library.discovery(new URL(issuer), clientId, undefined, undefined, options)).serverMetadata();
  // The library lets the names of Entra ID for one tenant stand for each other; identities would change with the name.
  if (new URL(metadata.issuer).href !== issuer) throw new Error('the provider names another issuer');
  const { authorization_endpoint, token_endpoint, jwks_uri } = metadata;
  const isFit = (url = '') => URL.canParse(url) && (isInsecure(issuer) || url.startsWith('https:'));
  if (![authorization_endpoint, token_endpoint, jwks_uri].every(isFit))
    throw new Error('the provider does not name its endpoints and keys by https');
  return metadata;
}

/** Plain HTTP, which the settings allow on loopback only. */
function isInsecure(issuer: string): boolean {
  return issuer.startsWith('http:');
}

/** Calls that together take at most this long. The whole answer counts, so it is read here. */
function callWithin(durationMs: number): CustomFetch {
  const signal = AbortSignal.timeout(durationMs);
  return async (url, { method, headers, body, redirect }) => {
    try {
      const response = await fetch(url, { method, headers, body: body as BodyInit, redirect, signal });
      const content = await response.arrayBuffer();
      if (response.status < 500) return new Response(content.byteLength > 0 ? content : null, response);
      throw new Error(`status ${response.status}`);
    } catch (error) {
      throw new Unavailable(reasonOf(error), { cause: error });
    }
  };
}

function refusal(code: 'SSO_UNAVAILABLE' | 'SSO_REFUSED', error: unknown): SsoRefusal {
  const unavailable = causesOf(error).find((cause) => cause instanceof Unavailable);
  return unavailable ? new SsoRefusal('SSO_UNAVAILABLE', unavailable.message) : new SsoRefusal(code, reasonOf(error));
}

/** The error and its causes, the first cause last. */
function causesOf(error: unknown): Error[] {
  return error instanceof Error ? [error, ...causesOf(error.cause)] : [];
}

/** For the log: codes and messages of ours and of libraries, none with the provider's words. */
function reasonOf(error: unknown): string {
  const [first, ...causes] = causesOf(error);
  const codes = [first, ...causes].flatMap((cause) => {
    const { code, error: answered } = (cause ?? {}) as { code?: unknown; error?: unknown };
    return [code, answered].filter((text) => typeof text === 'string' && ERROR_CODE.test(text));
  });
  return [first?.message ?? 'unknown', ...codes].join(', ');
}

/** Loaded when it is used: most services have no single sign-on. */
async function load() {
  return import('openid-client');
}
