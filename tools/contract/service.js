import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { freePort, ServiceProcess } from '../../test/support/service-process.ts';

export const ROOT = resolve(import.meta.dirname, '../..');

/**
 * The built service after a first start, on an embedded database of its own: one owner, one waitlist (id 1). `docs` is
 * the link that it prints; it fills in the examples of the documentation pages. `interrupt` stops it, and `resume`
 * starts it again at the same address with the same data, and with changes of its environment.
 *
 * @param {Record<string, string>} environment
 */
export async function startService({ OWNER_PASSWORD = '', ...environment } = {}) {
  const directory = await mkdtemp(join(tmpdir(), 'waitlist-contract-'));
  const databaseUrl = `sqlite:${join(directory, 'waitlist.sqlite')}`;
  const PORT = String(await freePort());
  /** @type {ServiceProcess} */
  let service;
  /** @param {Record<string, string>} changes */
  const resume = async (changes = {}) => {
    service = await ServiceProcess.spawn({
      DATABASE_URL: databaseUrl,
      RATE_LIMIT_LOGIN: '0',
      SHUTDOWN_DELAY: '0',
      OWNER_PASSWORD,
      PORT,
      ...environment,
      ...changes,
    });
    await service.started();
  };
  const interrupt = async () => {
    if (!service.hasExited) service.signal('SIGTERM');
    // Fuzzed requests hold anything, so the check of the log for secrets does not apply.
    await service.exit.catch(() => undefined);
  };
  const stop = async () => {
    await interrupt();
    await rm(directory, { recursive: true, force: true });
  };
  try {
    await resume();
    const docs = new URL(/http\S+\/docs#\S+(?=\n)/.exec(service.output)[0]);
    const {
      email = '',
      password = OWNER_PASSWORD,
      api_key,
    } = Object.fromEntries(new URLSearchParams(docs.hash.slice(1)));
    const urls = { url: docs.origin, docs: docs.href, databaseUrl };
    return { ...urls, email, password, apiKey: api_key, interrupt, resume, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/**
 * Calls the service as a client would; throws where it does not answer as `status` says.
 *
 * @param {{ url: string }} service
 * @param {string} method
 * @param {string} path
 * @param {{ body?: unknown, token?: string, status?: number }} options
 * @returns {Promise<any>}
 */
export async function call(service, method, path, { body, token, status = 200 } = {}) {
  const answer = await fetch(`${service.url}${path}`, {
    method,
    headers: {
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
    },
    body: body === undefined ? undefined : JSON.stringify(body),
  });
  const text = await answer.text();
  if (answer.status !== status) throw new Error(`${method} ${path} answered ${answer.status}: ${text}`);
  return text === '' ? undefined : JSON.parse(text);
}

/** @param {{ url: string, email: string, password: string }} service */
export async function logIn(service) {
  const { email, password } = service;
  const tokens = await call(service, 'POST', '/api/v1/auth/create_tokens', { body: { email, password } });
  return tokens.access_token;
}

/** Runs a command in the foreground; resolves to its exit code. */
export async function run(command, args, options = {}) {
  const child = spawn(command, args, { stdio: 'inherit', cwd: ROOT, ...options });
  const [code] = await once(child, 'exit');
  return code ?? 1;
}
