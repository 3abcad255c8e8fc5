import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

export const ROOT = resolve(import.meta.dirname, '../..');
const START_LIMIT_MS = 60_000;

/**
 * The built service as on a first start, on an embedded database of its own: one owner, one waitlist (id 1). `docs` is the
 * link it prints, which fills in the examples of its pages.
 */
export async function startService(environment = {}) {
  const port = await freePort();
  const directory = await mkdtemp(join(tmpdir(), 'waitlist-contract-'));
  const child = spawn(process.execPath, [join(ROOT, 'dist/src/main.js')], {
    env: {
      ...process.env,
      DATABASE_URL: `sqlite:${join(directory, 'waitlist.sqlite')}`,
      HOST: '127.0.0.1',
      PORT: String(port),
      PUBLIC_BASE_URL: `http://127.0.0.1:${port}`,
      RATE_LIMIT_PUBLIC: '0',
      RATE_LIMIT_LOGIN: '0',
      ...environment,
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const stop = async () => {
    if (child.exitCode === null && child.signalCode === null) {
      child.kill('SIGTERM');
      await once(child, 'exit');
    }
    await rm(directory, { recursive: true, force: true });
  };
  try {
    const docs = await linkFrom(child);
    const {
      email,
      password = environment.OWNER_PASSWORD,
      api_key,
    } = Object.fromEntries(new URLSearchParams(docs.hash.slice(1)));
    return { url: docs.origin, docs: docs.href, email, password, apiKey: api_key, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function freePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address();
  server.close();
  await once(server, 'close');
  return port;
}

/** The service prints it once it listens. */
function linkFrom(child) {
  return new Promise((resolveLink, reject) => {
    let text = '';
    const limit = setTimeout(() => reject(new Error(`The service did not start:\n${text}`)), START_LIMIT_MS);
    child.stdout.setEncoding('utf8').on('data', (chunk) => {
      text += chunk;
      const [link] = /http\S+\/docs#\S+(?=\n)/.exec(text) ?? [];
      if (link === undefined) return;
      clearTimeout(limit);
      resolveLink(new URL(link));
    });
    child.once('exit', (code) => {
      clearTimeout(limit);
      reject(new Error(`The service ended with ${code}:\n${text}`));
    });
  });
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
