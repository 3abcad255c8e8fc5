import { once } from 'node:events';
import { copyFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { constants } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { freshFolder, start } from '../support/program.js';
import { freePort, until } from '../support/service-process.js';

/** A build that lasts until the file `go-on` exists. */
const BUILD = `
  const { existsSync, mkdirSync, writeFileSync } = require('node:fs');
  writeFileSync('build.pid', String(process.pid));
  const timer = setInterval(() => {
    if (!existsSync('go-on')) return;
    clearInterval(timer);
    mkdirSync('dist/src', { recursive: true });
    for (const name of ['main', 'cli']) writeFileSync('dist/src/' + name + '.js', 'console.log("This is ' + name + '.")');
  }, 10);`;

function isRunning(processId: number): boolean {
  try {
    return process.kill(processId, 0);
  } catch {
    return false;
  }
}

describe('a checkout that is not built', () => {
  let folder: Awaited<ReturnType<typeof freshFolder>>;
  const inFolder = (path: string) => join(folder.path, path);
  beforeEach(async () => {
    folder = await freshFolder();
    for (const path of ['scripts', 'src', 'web']) mkdirSync(inFolder(path));
    for (const path of ['scripts/prepare.js', 'src/main.ts']) copyFileSync(path, inFolder(path));
    writeFileSync(inFolder('build.cjs'), BUILD);
    const manifest = { name: 'checkout', version: '1.0.0', type: 'module', engines: { node: '>=20.19' } };
    writeFileSync(inFolder('package.json'), JSON.stringify({ ...manifest, scripts: { build: 'node build.cjs' } }));
    const lock = { name: 'checkout', version: '1.0.0', lockfileVersion: 3, packages: { '': manifest } };
    writeFileSync(inFolder('package-lock.json'), JSON.stringify(lock));
  });
  afterEach(() => folder.remove());

  const prepare = (program: 'main' | 'cli', environment: Record<string, string>, terminal: boolean) =>
    start([process.execPath, 'scripts/prepare.js', `dist/src/${program}.js`], {
      folder: folder.path,
      environment,
      terminal,
    });

  it('names a port in use before the service is installed and built; the CLI needs no port', async () => {
    const taken = createServer().listen(0, '127.0.0.1');
    await once(taken, 'listening');
    const environment = { PORT: String((taken.address() as { port: number }).port), HOST: '127.0.0.1' };
    try {
      expect(await prepare('main', environment, false).ended).toEqual({
        stdout: '',
        stderr: `PORT: ${environment.PORT} is in use by another program; set PORT to a free port.\n`,
        exitCode: 1,
      });
      expect(existsSync(inFolder('node_modules'))).toBe(false);

      writeFileSync(inFolder('go-on'), '');
      expect(await prepare('cli', environment, false).ended).toEqual({
        stdout: 'This is cli.\n',
        stderr: 'Installing dependencies (once, about a minute)…\nBuilding…\n',
        exitCode: 0,
      });
    } finally {
      taken.close();
    }
  });

  it('shows at a terminal how long it has been installing and building, and then starts', async () => {
    const program = prepare('main', { PORT: String(await freePort()) }, true);

    await program.printed('Building… 1 s');
    writeFileSync(inFolder('go-on'), '');
    const { stdout, exitCode } = await program.ended;

    const [installing, building, ...rest] = stdout.split('\r\n');
    expect(installing).toMatch(/^\rInstalling dependencies \(once, about a minute\)… 0 s/);
    expect(building).toMatch(/^\rBuilding… 0 s\rBuilding… 1 s/);
    expect(rest).toEqual(['This is main.', '']);
    expect(exitCode).toBe(0);
  });

  it('takes the build with it when a signal ends it', async () => {
    const program = prepare('main', { PORT: String(await freePort()) }, false);
    // The file exists before its content does.
    let build = 0;
    await until(() => {
      if (existsSync(inFolder('build.pid'))) build = Number(readFileSync(inFolder('build.pid'), 'utf8'));
      return build > 0;
    });

    program.signal('SIGTERM');

    expect((await program.ended).exitCode).toBe(128 + constants.signals.SIGTERM);
    await until(() => !isRunning(build));
  });
});
