/**
 * Each document breaks no client of the one in the commit before, or in the commit given as argument; and this check
 * would notice a break of each kind that oasdiff takes lightly. `npm run contract:breaking [-- COMMIT]` needs Go.
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { ROOT } from './service.js';

const OASDIFF = 'github.com/oasdiff/oasdiff@v1.30.0';
const DOCUMENT = 'openapi/openapi.json';
const HERE = import.meta.dirname;

let work;
before(async () => {
  work = await mkdtemp(join(tmpdir(), 'waitlist-breaking-'));
  must('go', ['install', OASDIFF], { env: { ...process.env, GOBIN: work, GOFLAGS: '-mod=mod' } });
});
after(() => rm(work, { recursive: true, force: true }));

function must(command, args, options) {
  const { status, stdout, stderr, error } = spawnSync(command, args, { cwd: ROOT, encoding: 'utf8', ...options });
  assert.equal(status, 0, `${command} ${args.join(' ')}: ${error ?? stderr}`);
  return stdout;
}

/** What breaks clients between two documents; empty where nothing does. */
async function breaks(older, newer, accepted = []) {
  const files = [join(work, 'older.json'), join(work, 'newer.json')];
  await writeFile(files[0], older);
  await writeFile(files[1], newer);
  const levels = ['--flatten-allof', '--fail-on', 'WARN', '--severity-levels', join(HERE, 'oasdiff-levels.txt')];
  const run = spawnSync(join(work, 'oasdiff'), ['breaking', ...levels, ...accepted, ...files], { encoding: 'utf8' });
  assert.ok(run.status === 0 || run.stdout !== '', run.stderr);
  return run.status === 0 ? '' : run.stdout;
}

const isKnown = (commit) => spawnSync('git', ['rev-parse', '--verify', '--quiet', commit], { cwd: ROOT }).status === 0;

const namesAt = (commit) => must('git', ['ls-tree', '--name-only', commit, 'openapi/']).split('\n').filter(Boolean);

/** The last commit, or the one before it where the documents are as committed; null where there is none. */
function commitBefore() {
  if (must('git', ['status', '--porcelain', '--', 'openapi']) !== '') return 'HEAD';
  // A shallow clone ends at its last commit.
  if (!isKnown('HEAD~1')) spawnSync('git', ['fetch', '--quiet', '--deepen=1'], { cwd: ROOT });
  return isKnown('HEAD~1') ? 'HEAD~1' : null;
}

const [base = commitBefore()] = process.argv.slice(2);
const documents = (await readdir(join(ROOT, 'openapi'))).map((name) => `openapi/${name}`);

test('has each document of the contract before', (t) => {
  if (base === null) return t.skip('No commit before this one is at hand: name one.');
  const gone = namesAt(base).filter((name) => !documents.includes(name));

  assert.deepEqual(gone, []);
});

for (const document of documents) {
  test(`breaks no client of the contract before: ${document}`, async (t) => {
    if (base === null) return t.skip('No commit before this one is at hand: name one.');
    if (!namesAt(base).includes(document)) return t.skip(`${base} does not have it: the document is new.`);
    const file = join(HERE, 'oasdiff-accepted.txt');
    const accepted = ['--err-ignore', file, '--warn-ignore', file];
    const newer = await readFile(join(ROOT, document), 'utf8');

    assert.equal(await breaks(must('git', ['show', `${base}:${document}`]), newer, accepted), '');
  });
}

const listWaiters = ({ paths }) => paths['/api/v1/waiter'].get;
const without = (list, name) => list.filter((item) => item.name !== name);
const BREAKS = {
  'an operation is gone': ({ paths }) => delete paths['/api/v1/signup'].get,
  'an operation has another name': (api) => (listWaiters(api).operationId = 'getWaiters'),
  'an operation has moved to another class of clients': (api) => (listWaiters(api).tags = ['Auth']),
  'a public operation asks for a token': ({ paths }) =>
    (paths['/api/v1/signup'].post.security = [{ access_token: [] }]),
  'a parameter is gone': (api) => (listWaiters(api).parameters = without(listWaiters(api).parameters, 'order')),
  'a default has changed': (api) =>
    (listWaiters(api).parameters.find(({ name }) => name === 'limit').schema.default = 50),
  'a field of a request is gone': ({ components }) => delete components.schemas.CreateSignup.properties.metadata,
  'a field of a request must be given': ({ components }) => components.schemas.CreateSignup.required.push('phone'),
  'a bound is tighter': ({ components }) => (components.schemas.CreateSignup.properties.first_name.maxLength = 10),
  'a choice is gone': ({ components }) => components.schemas.Requirement.enum.pop(),
  'a field of an answer is gone': ({ components }) => delete components.schemas.Signup.properties.email,
  'a field of an answer may be null': ({ components }) => (components.schemas.Signup.properties.uuid.nullable = true),
  'a field of an answer has another type': ({ components }) =>
    (components.schemas.Signup.properties.priority.type = 'string'),
  'a header is gone': (api) => delete listWaiters(api).responses[200].headers.Link,
};

for (const [change, make] of Object.entries(BREAKS)) {
  test(`would notice that ${change}`, async () => {
    const text = await readFile(join(ROOT, DOCUMENT), 'utf8');
    const changed = JSON.parse(text);
    make(changed);

    assert.notEqual(await breaks(text, JSON.stringify(changed)), '');
  });
}

test('takes an addition for none', async () => {
  const text = await readFile(join(ROOT, DOCUMENT), 'utf8');
  const changed = JSON.parse(text);
  changed.components.schemas.Signup.properties.nickname = { type: 'string' };
  changed.components.schemas.Signup.properties.status['x-extensible-enum'].push('invited');
  listWaiters(changed).parameters.push({ name: 'since', in: 'query', schema: { type: 'string' } });

  assert.equal(await breaks(text, JSON.stringify(changed)), '');
});
