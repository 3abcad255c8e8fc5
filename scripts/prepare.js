/**
 * Prepares a checkout: installs, builds, and then runs the given built file, if any, in this process, so that signals and the
 * exit code are the service's own. It skips the installation if node_modules matches the lock file, and the build if the
 * hash of its inputs is the one in dist.
 *
 * It uses no dependencies and old syntax, because nothing may be installed yet and Node.js may be too old.
 */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import module from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const ROOT = resolve(dirname(fileURLToPath(import.meta.url)), '..');
const OUTPUT_BYTES_MAX = 64 * 1024 * 1024;

const inRoot = (path) => join(ROOT, path);
const readText = (path) => readFileSync(inRoot(path), 'utf8');
const readJson = (path) => JSON.parse(readText(path));

function fail(message) {
  console.error(message);
  process.exit(1);
}

function refuseOldNode() {
  const needed = readJson('package.json').engines.node.replace('>=', '');
  const [major, minor] = process.versions.node.split('.').map(Number);
  const [neededMajor, neededMinor] = needed.split('.').map(Number);
  if (major < neededMajor || (major === neededMajor && minor < neededMinor)) {
    fail(`Node.js ${needed} or newer is needed; this is ${process.versions.node}.`);
  }
}

/** Prints its intent on standard error, and the tool's output only if it fails. */
function run(intent, command) {
  console.error(`${intent}…`);
  const { status, signal, stdout, stderr, error } = spawnSync(command, {
    cwd: ROOT,
    shell: true,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
    maxBuffer: OUTPUT_BYTES_MAX,
  });
  if (status === 0) return;
  process.stderr.write(`${stdout || ''}${stderr || ''}`);
  fail(`${intent} failed (${error ? error.message : signal || `exit code ${status}`}): ${command}`);
}

/** Compares npm's record of the installation, in which optional packages of other platforms are missing. */
function isInstalled() {
  const record = 'node_modules/.package-lock.json';
  if (!existsSync(inRoot(record))) return false;
  const wanted = readJson('package-lock.json').packages;
  const installed = readJson(record).packages;
  return Object.entries(wanted).every(([path, { version, optional }]) =>
    path === '' ? true : installed[path] ? installed[path].version === version : optional === true,
  );
}

function sourcesIn(directory) {
  return readdirSync(inRoot(directory), { withFileTypes: true }).flatMap((entry) => {
    const path = `${directory}/${entry.name}`;
    if (entry.isDirectory()) return sourcesIn(path);
    return path.endsWith('.spec.ts') ? [] : [path];
  });
}

function hashOfInputs() {
  const settings = [
    ...['ormconfig.ts', 'nest-cli.json', 'tsconfig.json', 'tsconfig.build.json', 'package-lock.json'],
    ...['scripts/bundle-dependencies.js', 'scripts/bundled-dependencies.js'],
  ];
  const hash = createHash('sha256');
  for (const path of [...settings.filter((path) => existsSync(inRoot(path))), ...sourcesIn('src').sort()]) {
    hash.update(`${path}\0${readText(path)}\0`);
  }
  return hash.digest('hex');
}

function build() {
  const stamp = 'dist/.inputs';
  const inputs = hashOfInputs();
  if (existsSync(inRoot(stamp)) && readText(stamp) === inputs) return;
  run('Building', 'npm run build');
  writeFileSync(inRoot(stamp), inputs);
}

refuseOldNode();
if (!isInstalled()) run('Installing dependencies (once, about a minute)', 'npm ci --include=dev --loglevel=error');
build();

const [file, ...args] = process.argv.slice(2);
if (file) {
  // Node.js 22 and newer can cache compiled code, which shortens a start by about a sixth.
  if (module.enableCompileCache) module.enableCompileCache();
  process.argv = [process.argv[0], inRoot(file), ...args];
  await import(pathToFileURL(inRoot(file)).href);
}
