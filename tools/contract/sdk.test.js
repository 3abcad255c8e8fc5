/**
 * The released package of each client, installed into an empty project as docs/client-sdks.md says and led through the
 * tour (docs/tour.md) against a service of its own; and libraries that verify its webhooks: `npm run test:sdk
 * [-- typescript python go java]`. PACKAGES is the folder of a release, or an empty one that keeps the packages.
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { cp, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { after, test } from 'node:test';
import { CLIENTS, must, pack } from './sdk.js';
import { Receiver } from '../../test/support/receiver.ts';
import { until } from '../../test/support/service-process.ts';
import { call, logIn, ROOT, startService } from './service.js';

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

const page = await readFile(join(ROOT, 'docs/client-sdks.md'), 'utf8');
const { version: VERSION } = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8'));

/** The block in the section of a language. */
function exampleOf(language, kind) {
  const [, example] =
    new RegExp(`\n## ${language}\n(?:(?!\n## )[^])*?\n\`\`\`${kind}\n([^]*?)\n\`\`\``, 'i').exec(page) ?? [];
  assert.ok(example, `docs/client-sdks.md has no block of ${kind} for ${language}`);
  return example;
}

/** Runs the commands of the page in a project. */
function install(language, project, env = process.env) {
  return must('bash', ['-euc', exampleOf(language, 'sh')], { cwd: project, env: { ...env, VERSION } });
}

/** `build` makes an empty project use the package, and gives the command that starts the tour. */
const LANGUAGES = {
  typescript: {
    tools: ['node'],
    tour: 'tour.ts',
    async build(project, source) {
      await writeFile(join(project, 'package.json'), '{}');
      await install('typescript', project);
      await cp(source, join(project, 'tour.mts'));
      const tsc = join(ROOT, 'node_modules/typescript/bin/tsc');
      const types = join(ROOT, 'node_modules/@types');
      await must('node', [tsc, ...STRICT, '--typeRoots', types, 'tour.mts'], { cwd: project });
      return ['node', join(project, 'tour.mjs')];
    },
  },
  python: {
    tools: ['python3'],
    tour: 'tour.py',
    async build(project, source) {
      await must('python3', ['-m', 'venv', '.venv'], { cwd: project });
      const programs = join(project, '.venv/bin');
      await install('python', project, { ...process.env, PATH: `${programs}:${process.env.PATH}` });
      return [join(programs, 'python'), source];
    },
  },
  go: {
    tools: ['go'],
    tour: 'tour.go',
    async build(project, source) {
      await must('go', ['mod', 'init', 'tour'], { cwd: project });
      await cp(source, join(project, 'main.go'));
      await install('go', project);
      await must('go', ['vet', '.'], { cwd: project });
      await must('go', ['build', '-o', 'tour'], { cwd: project });
      return [join(project, 'tour')];
    },
  },
  java: {
    tools: ['javac', 'mvn'],
    tour: 'Tour.java',
    async build(project, source) {
      await install('java', project);
      const dependency = exampleOf('java', 'xml').replace('VERSION', VERSION);
      await writeFile(
        join(project, 'pom.xml'),
        `<project>
<modelVersion>4.0.0</modelVersion><groupId>tour</groupId><artifactId>tour</artifactId><version>1</version>
<dependencies>${dependency}</dependencies>
</project>`,
      );
      const goals = [MAVEN_CLASSPATH, '-Dmdep.outputFile=classpath', '-Dmdep.includeScope=runtime'];
      await must('mvn', ['--quiet', '--batch-mode', ...goals], { cwd: project });
      return ['java', '-cp', await readFile(join(project, 'classpath'), 'utf8'), source];
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

const chosen = process.argv.length > 2 ? process.argv.slice(2) : Object.keys(CLIENTS);
const directory = await mkdtemp(join(tmpdir(), 'waitlist-sdk-'));
after(() => rm(directory, { recursive: true, force: true }));
const packages = resolve(process.env.PACKAGES ?? (await mkdtemp(join(directory, 'packages-'))));
const areBuilt = (await readdir(packages)).length > 0;

/** An empty project beside the packages. */
async function projectOf(language) {
  const project = await mkdtemp(join(directory, 'project-'));
  if (!areBuilt) await pack(language, packages);
  for (const name of await readdir(packages)) await symlink(join(packages, name), join(project, name));
  return project;
}

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
  test(`the package of the ${language} client installs, and carries out the tour`, async (t) => {
    const reason = missingOf(['java', ...tools]);
    if (reason) return t.skip(reason);
    const [command, ...args] = await build(await projectOf(language), tourOf(language, tour));
    const service = await startService();
    try {
      await must(command, [...args, service.url, service.email, service.password, service.apiKey]);
    } finally {
      await service.stop();
    }
  });

  test(`docs/client-sdks.md shows the ${language} client as its tour uses it`, async () => {
    const example = exampleOf(language, language);
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
