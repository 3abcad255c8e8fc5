import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { ServiceProcess } from '../../test/support/service-process.ts';

export const ROOT = resolve(import.meta.dirname, '../..');

/**
 * The built service after a first start, on an embedded database of its own: one owner, one waitlist (id 1). `docs` is the
 * link that it prints; it fills in the examples of the documentation pages.
 */
export async function startService({ OWNER_PASSWORD = '', ...environment } = {}) {
  const directory = await mkdtemp(join(tmpdir(), 'waitlist-contract-'));
  const service = await ServiceProcess.spawn({
    DATABASE_URL: `sqlite:${join(directory, 'waitlist.sqlite')}`,
    RATE_LIMIT_LOGIN: '0',
    SHUTDOWN_DELAY: '0',
    OWNER_PASSWORD,
    ...environment,
  });
  const stop = async () => {
    if (!service.hasExited) service.signal('SIGTERM');
    // Fuzzed requests hold anything, so the check of the log for secrets does not apply.
    await service.exit.catch(() => undefined);
    await rm(directory, { recursive: true, force: true });
  };
  try {
    await service.started();
    const docs = new URL(/http\S+\/docs#\S+(?=\n)/.exec(service.output)[0]);
    const { email, password = OWNER_PASSWORD, api_key } = Object.fromEntries(new URLSearchParams(docs.hash.slice(1)));
    return { url: docs.origin, docs: docs.href, email, password, apiKey: api_key, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Calls the service as a client would; throws where it does not answer as `status` says. */
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
