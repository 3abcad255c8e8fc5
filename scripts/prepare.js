/**
 * Prepares a checkout: installs, builds, and then runs the given file, if any, in this process, so that signals and the
 * exit code are the service's own. `exec` in the script of package.json replaces npm's shell with this process, so it
 * gets the signals that npm passes on. It skips the installation if node_modules matches the lock file, and the
 * build if the hash of its inputs is the one in dist.
 *
 * It uses no dependencies and old syntax, because nothing may be installed yet and Node.js may be too old.
 */
import { Buffer } from 'node:buffer';
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import module from 'node:module';
import { createServer } from 'node:net';
import { constants } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { clearInterval, setInterval } from 'node:timers';
import { fileURLToPath, pathToFileURL } from 'node:url';

const ROOT = resolve(dirname(fileURLToPath(import.meta.url)), '..');
/** These listen on PORT. */
const SERVICES = ['dist/src/main.js', 'scripts/demo.js'];
const STOP_SIGNALS = ['SIGTERM', 'SIGINT', 'SIGHUP'];
const SECOND_MS = 1_000;

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

/**
 * The service would say the same, but only after a minute of installing and building. It reports all other faults
 * itself.
 */
function refuseTakenPort() {
  const port = /^\d+$/.test(process.env.PORT || '') ? Number(process.env.PORT) : 3000;
  if (port > 65_535) return undefined;
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', ({ code }) => {
      if (code === 'EADDRINUSE') fail(`PORT: ${port} is in use by another program; set PORT to a free port.`);
      resolve();
    });
    server.listen(port, process.env.HOST || '0.0.0.0', () => server.close(resolve));
  });
}

/**
 * Prints its intent on standard error, at a terminal with the seconds that have passed. Returns a function that ends
 * the line.
 */
function startLine(intent) {
  if (!process.stderr.isTTY) {
    console.error(`${intent}…`);
    return () => {};
  }
  let seconds = 0;
  const draw = () => process.stderr.write(`\r${intent}… ${seconds} s`);
  draw();
  const timer = setInterval(() => {
    seconds += 1;
    draw();
  }, SECOND_MS);
  return () => {
    clearInterval(timer);
    process.stderr.write('\n');
  };
}

/**
 * Prints the tool's output only if it fails. The tool gets its own process group. A signal to this process is sent to
 * the whole group, because the shell in between does not pass signals on.
 */
async function run(intent, command) {
  const endLine = startLine(intent);
  const isWindows = process.platform === 'win32';
  const child = spawn(command, { cwd: ROOT, shell: true, detached: !isWindows, stdio: ['ignore', 'pipe', 'pipe'] });
  const stop = (signal) => {
    endLine();
    if (isWindows) child.kill(signal);
    else process.kill(-child.pid, signal);
    process.exit(128 + constants.signals[signal]);
  };
  for (const signal of STOP_SIGNALS) process.on(signal, stop);
  const output = [];
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => output.push(chunk));
  const [code, signal] = await once(child, 'close');
  for (const signal of STOP_SIGNALS) process.off(signal, stop);
  endLine();
  if (code === 0) return;
  process.stderr.write(Buffer.concat(output));
  fail(`${intent} failed (${signal || `exit code ${code}`}): ${command}`);
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
    // Only the types of the check.
    return path.endsWith('.spec.ts') || path.includes('/generated/') ? [] : [path];
  });
}

function hashOfInputs() {
  const settings = [
    ...['ormconfig.ts', 'nest-cli.json', 'tsconfig.json', 'tsconfig.build.json', 'package-lock.json'],
    ...['scripts/bundle-dependencies.js', 'scripts/bundled-dependencies.js', 'openapi/openapi.json'],
  ];
  const hash = createHash('sha256');
  const sources = ['src', 'web'].flatMap((directory) => sourcesIn(directory).sort());
  for (const path of [...settings.filter((path) => existsSync(inRoot(path))), ...sources]) {
    hash.update(`${path}\0${readText(path)}\0`);
  }
  return hash.digest('hex');
}

const STAMP = 'dist/.inputs';

refuseOldNode();
const [file, ...args] = process.argv.slice(2);
const mustInstall = !isInstalled();
const inputs = hashOfInputs();
const mustBuild = !existsSync(inRoot(STAMP)) || readText(STAMP) !== inputs;
if (SERVICES.includes(file) && (mustInstall || mustBuild)) await refuseTakenPort();
if (mustInstall) {
  await run('Installing dependencies (once, about a minute)', 'npm ci --include=dev --loglevel=error');
}
if (mustBuild) {
  await run('Building', 'npm run build');
  writeFileSync(inRoot(STAMP), inputs);
}
if (file) {
  // Node.js 22 and newer can cache compiled code, which shortens a start by about a sixth.
  if (module.enableCompileCache) module.enableCompileCache();
  process.argv = [process.argv[0], inRoot(file), ...args];
  await import(pathToFileURL(inRoot(file)).href);
}
