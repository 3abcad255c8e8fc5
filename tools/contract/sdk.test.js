/**
 * Each client that `npm run sdk` generates, compiled with its own toolchain and led through the tour of the README
 * against a service of its own; and libraries that verify its webhooks: `npm run test:sdk [-- typescript python go
 * java]`.
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { cp, mkdir, mkdtemp, readFile, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { generate } from './sdk.js';
import { Receiver } from '../../test/support/receiver.ts';
import { until } from '../../test/support/service-process.ts';
import { call, logIn, ROOT, run, startService } from './service.js';

const MAVEN_CLASSPATH = 'org.apache.maven.plugins:maven-dependency-plugin:3.6.1:build-classpath';
const STRICT = [
  '--ignoreConfig',
  '--strict',
  '--target',
  'es2022',
  '--module',
  'nodenext',
  '--skipLibCheck',
  '--types',
  'node',
];

const tourOf = (language, file) => join(ROOT, 'tools/contract/sdk', language, file);

async function must(command, args, options) {
  const code = await run(command, args, options);
  if (code !== 0) throw new Error(`${command} failed (${code})`);
}

/** `build` compiles the client in its directory and gives the command that starts the tour. */
const LANGUAGES = {
  typescript: {
    tools: ['node'],
    tour: 'tour.ts',
    async build(client, source) {
      const tsc = join(ROOT, 'node_modules/typescript/bin/tsc');
      await must('node', [tsc], { cwd: client });
      const directory = join(client, 'tour');
      await mkdir(join(directory, 'node_modules'), { recursive: true });
      await symlink(client, join(directory, 'node_modules/waitlist-client'));
      await cp(source, join(directory, 'tour.mts'));
      const types = join(ROOT, 'node_modules/@types');
      await must('node', [tsc, ...STRICT, '--typeRoots', types, 'tour.mts'], { cwd: directory });
      return ['node', join(directory, 'tour.mjs')];
    },
  },
  python: {
    tools: ['python3'],
    tour: 'tour.py',
    async build(client, source) {
      const python = join(client, '.venv/bin/python');
      await must('python3', ['-m', 'venv', join(client, '.venv')]);
      await must(python, ['-m', 'pip', 'install', '--quiet', client]);
      return [python, source];
    },
  },
  go: {
    tools: ['go'],
    tour: 'tour.go',
    async build(client, source) {
      const directory = join(client, 'tour');
      await mkdir(directory);
      await cp(source, join(directory, 'main.go'));
      await must('go', ['vet', '.', './tour'], { cwd: client });
      await must('go', ['build', '-o', join(directory, 'tour'), './tour'], { cwd: client });
      return [join(directory, 'tour')];
    },
  },
  java: {
    tools: ['javac', 'mvn'],
    tour: 'Tour.java',
    async build(client, source) {
      const file = join(client, 'target/classpath');
      const goals = ['compile', MAVEN_CLASSPATH, `-Dmdep.outputFile=${file}`, '-Dmdep.includeScope=runtime'];
      await must('mvn', ['--quiet', '--batch-mode', ...goals], { cwd: client });
      return ['java', '-cp', `${join(client, 'target/classes')}:${await readFile(file, 'utf8')}`, source];
    },
  },
};

/** The reference libraries of Standard Webhooks; test/http/webhook.spec.ts has that of JavaScript. */
const VERIFIERS = {
  python: {
    tools: ['python3'],
    async build(directory) {
      const python = join(directory, '.venv/bin/python');
      await must('python3', ['-m', 'venv', join(directory, '.venv')]);
      await must(python, ['-m', 'pip', 'install', '--quiet', 'standardwebhooks==1.1.0']);
      return [python, tourOf('python', 'verify.py')];
    },
  },
  go: {
    tools: ['go'],
    async build(directory) {
      await cp(tourOf('go', 'verify.go'), join(directory, 'main.go'));
      await must('go', ['mod', 'init', 'verify'], { cwd: directory });
      await must('go', ['get', 'github.com/standard-webhooks/standard-webhooks/libraries@v0.0.1'], { cwd: directory });
      await must('go', ['build', '-o', 'verify'], { cwd: directory });
      return [join(directory, 'verify')];
    },
  },
};

const chosen = process.argv.length > 2 ? process.argv.slice(2) : Object.keys(LANGUAGES);

/** The tools that are not installed, in words; CI must have all. */
function missingOf(tools) {
  const missing = tools.filter((tool) => spawnSync('which', [tool]).status !== 0);
  if (missing.length === 0) return undefined;
  const reason = `Not installed: ${missing.join(', ')}`;
  assert.ok(!process.env.CI, reason);
  return reason;
}

for (const language of chosen) {
  const { tools, tour, build } = LANGUAGES[language];
  test(`the ${language} client compiles, and carries out the tour`, async (t) => {
    const reason = missingOf(['java', ...tools]);
    if (reason) return t.skip(reason);
    const source = tourOf(language, tour);
    const [command, ...args] = await build(await generate(language), source);
    const service = await startService();
    try {
      await must(command, [...args, service.url, service.email, service.password, service.apiKey]);
    } finally {
      await service.stop();
    }
  });

  test(`docs/client-sdks.md shows the ${language} client as its tour uses it`, async () => {
    const page = await readFile(join(ROOT, 'docs/client-sdks.md'), 'utf8');
    const [, example] = new RegExp(`\n\`\`\`${language}\n([^]*?)\n\`\`\``).exec(page) ?? [];
    assert.ok(example, `docs/client-sdks.md has no example for ${language}`);
    const lines = (await readFile(tourOf(language, tour), 'utf8')).split('\n').map((line) => line.trim());
    assert.deepEqual(
      example.split('\n').filter((line) => !lines.includes(line.trim())),
      [],
      'Lines that the tour does not have',
    );
  });
}

for (const language of chosen.filter((name) => name in VERIFIERS)) {
  test(`the reference library of Standard Webhooks in ${language} verifies a message`, async (t) => {
    const { tools, build } = VERIFIERS[language];
    const reason = missingOf(tools);
    if (reason) return t.skip(reason);
    const directory = await mkdtemp(join(tmpdir(), 'waitlist-verify-'));
    const service = await startService({ WEBHOOK_ALLOWED_NETWORKS: '127.0.0.1' });
    const receiver = await Receiver.start();
    try {
      const [command, ...args] = await build(directory);
      const token = await logIn(service);
      const path = '/api/v1/waitlist/1/webhook';
      const { id, secret } = await call(service, 'POST', path, { token, body: { url: receiver.url }, status: 201 });
      await call(service, 'POST', `${path}/${id}/test`, { token, status: 202 });
      await until(() => receiver.received.length > 0);
      const [{ body, headers }] = receiver.received;
      const verify = (message) =>
        spawnSync(command, args, { input: JSON.stringify(message), encoding: 'utf8', cwd: directory });
      const verified = verify({ secret, body, headers });
      assert.equal(verified.status, 0, verified.stderr);
      assert.notEqual(verify({ secret, body: `${body} `, headers }).status, 0);
    } finally {
      await receiver.stop();
      await service.stop();
      await rm(directory, { recursive: true, force: true });
    }
  });
}
