/**
 * Runs commands of the built CLI one after another in this process, because most of a command's time is to load the
 * service. A command is answered once nothing of it is left that would keep a process of its own from ending.
 */
import { setTimeout } from 'node:timers/promises';

const CLI = new URL('../../dist/src/cli.js', import.meta.url);
const END_MAX_MS = 20_000;
const POLL_MS = 2;

const resources = () => process.getActiveResourcesInfo();
const ownEnvironment = { ...process.env };
let commands = 0;

process.on('disconnect', () => process.exit());

process.on('message', async ({ args, environment }) => {
  const output = { stdout: '', stderr: '' };
  const { stdout, stderr } = process;
  const before = resources().length;
  const writers = [stdout.write, stderr.write];
  const writeTo = (name) => (chunk, encoding, done) => {
    output[name] += chunk;
    (typeof encoding === 'function' ? encoding : done)?.();
    return true;
  };
  [stdout.write, stderr.write] = [writeTo('stdout'), writeTo('stderr')];
  process.env = { ...ownEnvironment, ...environment };
  process.argv = [process.execPath, CLI.pathname, ...args];
  process.exitCode = undefined;

  commands += 1;
  // A module is run once, unless its address is new; what it imports is shared.
  await import(`${CLI.href}?${commands}`);

  const deadline = Date.now() + END_MAX_MS;
  while (resources().length > before && Date.now() < deadline) await setTimeout(POLL_MS);
  if (resources().length > before) output.stderr += `This would keep the process alive: ${resources().join(', ')}`;
  [stdout.write, stderr.write] = writers;
  process.send({ ...output, exitCode: process.exitCode ?? 0 });
});
