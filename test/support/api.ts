import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { holdToContract } from './contract.js';
import {
  type LeakDetector,
  privateText,
  privateTextOf,
  privateTextOfUrl,
  requireAnonymity,
  requireSilence,
} from './leak-detector.js';

export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | number | undefined>>;
  /** The parsed JSON; undefined without one. */
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- tests read the fields of bodies of every shape
  readonly body: any;
  readonly text: string;
}

export interface CallOptions {
  readonly token?: string;
  readonly headers?: Readonly<Record<string, string | string[]>>;
  readonly query?: Readonly<Record<string, string | number | boolean>>;
  /** The caller's address; 127.0.0.1 if left out. */
  readonly from?: string;
  /** Sent unchanged, instead of `body` as JSON. */
  readonly raw?: string | Buffer;
}

export type Method = 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE' | 'HEAD' | 'OPTIONS' | 'QUERY';

/** Calls a service in another process and checks the answer against the contract. */
export async function callAt(
  base: string,
  method: Method,
  path: string,
  { body, token, key }: { body?: object; token?: string; key?: string } = {},
): Promise<Answer> {
  const response = await fetch(`${base}${path}`, {
    method,
    headers: {
      ...(body && { 'content-type': 'application/json' }),
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
      ...(key !== undefined && { 'api-key': key }),
    },
    body: body && JSON.stringify(body),
  });
  return held(method, path, {
    status: response.status,
    headers: Object.fromEntries(response.headers),
    text: await response.text(),
  });
}

export function parsed(raw: Omit<Answer, 'body'>): Answer {
  const isJson = /[/+]json/.test(String(raw.headers['content-type']));
  return { ...raw, body: isJson && raw.text !== '' ? JSON.parse(raw.text) : undefined };
}

/** Parses the body; throws if the answer breaks the contract. */
export function held(method: string, path: string, raw: Omit<Answer, 'body'>): Answer {
  const answer = parsed(raw);
  holdToContract(method, path, answer);
  return answer;
}

/** A client of the API. It checks every answer against the contract and for leaked secrets. */
export class Api {
  constructor(
    private readonly app: NestFastifyApplication,
    private readonly leaks: LeakDetector,
    private readonly accountKeys: ReadonlyMap<string, string> = new Map(),
  ) {}

  /** The same client, which sends these account keys in place of their tokens. */
  withAccountKeys(byToken: ReadonlyMap<string, string>): Api {
    return new Api(this.app, this.leaks, byToken);
  }

  async get(path: string, options?: CallOptions): Promise<Answer> {
    return this.call('GET', path, undefined, options);
  }

  async post(path: string, body?: unknown, options?: CallOptions): Promise<Answer> {
    return this.call('POST', path, body, options);
  }

  async patch(path: string, body?: unknown, options?: CallOptions): Promise<Answer> {
    return this.call('PATCH', path, body, options);
  }

  async delete(path: string, options?: CallOptions): Promise<Answer> {
    return this.call('DELETE', path, undefined, options);
  }

  async call(
    method: Method,
    path: string,
    body?: unknown,
    { token, headers, query, from, raw }: CallOptions = {},
  ): Promise<Answer> {
    const search = query ? `?${new URLSearchParams(mapToText(query)).toString()}` : '';
    const accountKey = headers?.['api-key'] === undefined ? this.accountKeys.get(token ?? '') : undefined;
    const payload = raw ?? (body === undefined ? undefined : JSON.stringify(body));
    const response = await this.app.inject({
      method: method as Exclude<Method, 'QUERY'>,
      url: `${path}${search}`,
      payload,
      remoteAddress: from,
      headers: {
        ...(payload !== undefined && { 'content-type': 'application/json' }),
        ...(accountKey !== undefined
          ? { 'api-key': accountKey }
          : token !== undefined && { authorization: `Bearer ${token}` }),
        ...headers,
      },
    });
    const answer = held(method, `${path}${search}`, {
      status: response.statusCode,
      headers: response.headers,
      text: response.body,
    });
    const sent = [
      ...cookieValues(headers?.cookie),
      ...privateTextOfUrl(`${path}${search}`),
      ...tokenOfLink(path),
      ...privateText({ ...headers, authorization: token }),
      ...(payload === undefined ? [] : privateTextOf(payload.toString())),
    ];
    this.leaks.keep(
      path.startsWith('/api/')
        ? [...sent, ...privateText(answer.body), ...cookieValues(answer.headers['set-cookie'])]
        : sent,
    );
    requireAnonymity(answer);
    if (answer.status >= 400) requireSilence(`${method} ${path} ${answer.status}`, answer.text, sent);
    return answer;
  }
}

/** The token of a link in a mail. */
function tokenOfLink(path: string): string[] {
  return /\/verify\/([\w-]{43})$/.exec(path)?.slice(1) ?? [];
}

/** The values of cookies, sent or set: tokens. */
function cookieValues(header: Answer['headers'][string]): string[] {
  return [...String(header ?? '').matchAll(/waitlist_(?:session|sso)=([^;]{6,})/g)].map(([, value]) => value!);
}

function mapToText(query: NonNullable<CallOptions['query']>): Record<string, string> {
  return Object.fromEntries(Object.entries(query).map(([name, value]) => [name, String(value)]));
}
