import { generateKeyPairSync, type KeyObject, randomUUID, sign } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Context, default as Provider } from 'oidc-provider';

/** How the provider answers: well, with an error of its own, or under the name of another issuer. */
type Mood = 'well' | 'broken' | 'renamed';
type Claims = Readonly<Record<string, unknown>>;
type Person = Claims & { readonly sub: string };
type ProviderClass = typeof Provider;

const CLIENT = { id: 'waitlist', secret: 'the-secret-of-the-client-at-the-provider' };
/** Below the address at which the service believes to be. */
const CALLBACK = '/api/v1/auth/sso/callback';

interface Key {
  readonly id: string;
  readonly privateKey: KeyObject;
}

function makeKey(): Key {
  return { id: randomUUID(), privateKey: generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey };
}

/** What an ID token of the provider says instead, and who signs it. */
interface Forgery {
  readonly claims?: Claims;
  readonly key?: Key;
  readonly algorithm?: 'none';
}

/** A real, certified provider of OpenID Connect on a port of its own, at which people sign in without a form. */
export class IdentityProvider {
  mood: Mood = 'well';
  /** Applied to each ID token. */
  forgery: Forgery | null = null;
  /** Resolves once a service waits for the answer of {@link hangOnce}. */
  isHanging = Promise.resolve();
  private hang: (() => void) | null = null;
  private readonly people = new Map<string, Claims>();
  private person = '';
  private refusal: string | null = null;
  private provider!: Provider;
  private key!: Key;

  private constructor(
    private readonly server: Server,
    private readonly serviceUrl: string,
    private readonly tellsInIdToken: boolean,
    private readonly Provider: ProviderClass,
  ) {}

  /** With `tellsInIdToken: false`, the claims of people are at userinfo only. */
  static async start({ serviceUrl = 'http://localhost:3000', tellsInIdToken = true } = {}): Promise<IdentityProvider> {
    const server = createServer();
    const loaded = await quietly(() => import('oidc-provider'));
    const own = new IdentityProvider(server, serviceUrl, tellsInIdToken, loaded.default);
    server.on('request', (request, response) => own.answer(request, response));
    await once(server.listen(0, '127.0.0.1'), 'listening');
    await own.rotateKeys();
    return own;
  }

  get issuer(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  /** The settings of a service that uses it. */
  get environment() {
    return { OIDC_ISSUER: this.issuer, OIDC_CLIENT_ID: CLIENT.id, OIDC_CLIENT_SECRET: CLIENT.secret };
  }

  /** From now on others have no value. */
  async rotateKeys(): Promise<void> {
    this.key = makeKey();
    this.provider = await quietly(() => this.makeProvider());
  }

  /** Never answers the next exchange of a code. */
  hangOnce(): void {
    this.isHanging = new Promise((resolve) => (this.hang = resolve));
  }

  static foreignKey(): Key {
    return makeKey();
  }

  async stop(): Promise<void> {
    this.server.close();
    this.server.closeAllConnections();
    await once(this.server, 'close');
  }

  /**
   * Goes to the provider as a browser in which nobody is signed in, signs in as `sub`, and returns the query with which
   * the provider sends it back. Without a `sub`, somebody refuses to sign in.
   */
  async signIn(location: string, person: Person | null): Promise<string> {
    this.person = person?.sub ?? '';
    this.refusal = person ? null : 'access_denied';
    if (person) this.people.set(this.person, person);
    const cookies = new Map<string, string>();
    let next = new URL(location);
    while (next.pathname !== CALLBACK) {
      const cookie = Array.from(cookies, ([name, value]) => `${name}=${value}`).join('; ');
      // eslint-disable-next-line no-restricted-globals -- it calls the provider, not the service
      const response = await fetch(next, { redirect: 'manual', headers: { cookie } });
      for (const set of response.headers.getSetCookie()) {
        const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(set) ?? [];
        cookies.set(name, value);
      }
      const to = response.headers.get('location');
      if (to === null) throw new Error(`The provider answers ${response.status}: ${await response.text()}`);
      next = new URL(to, next);
    }
    return next.search.slice(1);
  }

  private makeProvider(): Provider {
    const client = {
      client_id: CLIENT.id,
      client_secret: CLIENT.secret,
      redirect_uris: [`${this.serviceUrl}${CALLBACK}`],
      id_token_signed_response_alg: 'ES256',
    };
    const jwk = { ...this.key.privateKey.export({ format: 'jwk' }), kid: this.key.id, use: 'sig', alg: 'ES256' };
    return new this.Provider(this.issuer, {
      clients: [client],
      jwks: { keys: [jwk] },
      cookies: { keys: ['a key of the tests'] },
      features: { devInteractions: { enabled: false } },
      interactions: { url: (_: Context, { uid }: { uid: string }) => `/interaction/${uid}` },
      pkce: { required: () => true },
      conformIdTokenClaims: !this.tellsInIdToken,
      claims: {
        openid: ['sub', 'groups', 'realm_access'],
        email: ['email', 'email_verified'],
        profile: ['name'],
      },
      ttl: { AccessToken: 600, AuthorizationCode: 60, Grant: 600, IdToken: 600, Interaction: 600, Session: 600 },
      findAccount: (_: Context, accountId: string) => ({
        accountId,
        claims: () => ({ ...this.people.get(accountId), sub: accountId }),
      }),
      loadExistingGrant: async ({ oidc }: Context) => {
        const { Grant } = this.provider;
        const grant = new Grant({ clientId: oidc.client.clientId, accountId: oidc.session.accountId });
        grant.addOIDCScope(oidc.params.scope);
        await grant.save();
        return grant;
      },
    });
  }

  private answer(request: IncomingMessage, response: ServerResponse): void {
    const path = request.url ?? '';
    if (this.mood === 'broken') return void response.writeHead(503).end('Sorry');
    if (this.mood === 'renamed') alter(response, (body) => ({ ...body, issuer: 'https://other.example' }));
    if (path.startsWith('/interaction/')) {
      const result = this.refusal === null ? { login: { accountId: this.person } } : { error: this.refusal };
      return void this.provider.interactionFinished(request, response, result);
    }
    if (path.startsWith('/token') && this.hang) {
      this.hang();
      this.hang = null;
      return;
    }
    if (path.startsWith('/token') && this.forgery) {
      const { forgery } = this;
      alter(response, (body) => ({ ...body, id_token: this.forge(String(body.id_token), forgery) }));
    }
    this.provider.callback()(request, response);
  }

  private forge(idToken: string, { claims, key = this.key, algorithm }: Forgery): string {
    const told = JSON.parse(Buffer.from(idToken.split('.')[1]!, 'base64url').toString()) as Claims;
    const header = { alg: algorithm ?? 'ES256', kid: this.key.id };
    const signed = [header, { ...told, ...claims }].map((part) =>
      Buffer.from(JSON.stringify(part)).toString('base64url'),
    );
    const signature =
      algorithm === 'none'
        ? Buffer.alloc(0)
        : sign('sha256', Buffer.from(signed.join('.')), { key: key.privateKey, dsaEncoding: 'ieee-p1363' });
    return [...signed, signature.toString('base64url')].join('.');
  }
}

/** Changes the JSON that a response is about to send. */
function alter(response: ServerResponse, change: (body: Record<string, unknown>) => object): void {
  const end = response.end.bind(response) as (body: string) => ServerResponse;
  response.end = ((body: string | Buffer) => {
    const changed = JSON.stringify(change(JSON.parse(String(body)) as Record<string, unknown>));
    response.setHeader('content-length', Buffer.byteLength(changed));
    return end(changed);
  }) as typeof response.end;
}

/** The library warns of Node.js 20, and that it keeps all in memory. */
async function quietly<Result>(work: () => Result): Promise<Awaited<Result>> {
  const { warn } = console;
  console.warn = () => undefined;
  try {
    return await work();
  } finally {
    console.warn = warn;
  }
}
