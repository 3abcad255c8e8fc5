import { type ChildProcess, fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const ROOT = fileURLToPath(new URL('../../', import.meta.url));

interface Output {
  readonly stdout: string;
  readonly stderr: string;
  readonly exitCode: number | null;
}

/** A program as a person starts it: a process with its own working directory. */
export interface Program {
  /** Resolves with the standard output once it contains `words`; rejects if the program ends first. */
  printed(words: string): Promise<string>;
  /** Resolves when the program has ended. */
  readonly ended: Promise<Output>;
  signal(name: NodeJS.Signals): void;
  /** Types at the terminal of a program started with `terminal`. */
  type(keys: string): void;
}

type Environment = Readonly<Record<string, string>>;
interface Start {
  /** The working directory, where the embedded database goes. */
  readonly folder: string;
  readonly environment?: Environment;
  readonly input?: string;
  /** Whether it runs at a terminal: a pseudo-terminal, which merges both outputs into the standard output. */
  readonly terminal?: boolean;
}

/** Starts a command. It inherits only PATH from the environment. */
export function start(
  command: readonly [string, ...string[]],
  { folder, environment = {}, input, terminal = false }: Start,
): Program {
  const [file, ...args] = terminal ? atTerminal(command) : command;
  const child = spawn(file, args, { cwd: folder, env: { PATH: process.env.PATH, HOME: folder, ...environment } });
  let stdout = '';
  let stderr = '';
  child.stdout.on('data', (chunk: Buffer) => (stdout += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
  if (!terminal) child.stdin.end(input ?? '');
  const ended = once(child, 'close').then(([exitCode]) => ({ stdout, stderr, exitCode: exitCode as number | null }));
  return {
    ended,
    printed: (words) =>
      new Promise((resolve, reject) => {
        const look = () => stdout.includes(words) && resolve(stdout);
        child.stdout.on('data', look);
        void ended.then(() => reject(new Error(`It ended without printing "${words}": ${stdout}${stderr}`)));
        look();
      }),
    signal: (name) => child.kill(name),
    type: (keys) => child.stdin.write(keys),
  };
}

/** `script` of util-linux, or of macOS, runs a command at a pseudo-terminal and ends with its exit code. */
function atTerminal(command: readonly string[]): [string, ...string[]] {
  if (process.platform === 'darwin') return ['script', '-q', '/dev/null', ...command];
  const quoted = command.map((word) => `'${word.replaceAll("'", `'\\''`)}'`).join(' ');
  return ['script', '--quiet', '--return', '--command', `exec ${quoted}`, '/dev/null'];
}

/** The built service, with the Node.js that runs the tests. */
export function startMain(options: Start): Program {
  return start([process.execPath, join(ROOT, 'dist/src/main.js')], options);
}

export function startCli(args: readonly string[], options: Start): Program {
  return start([process.execPath, join(ROOT, 'dist/src/cli.js'), ...args], options);
}

export async function runCli(...call: Parameters<typeof startCli>): Promise<Output> {
  return startCli(...call).ended;
}

/** Runs commands of the built CLI one after another in one process, which costs a fraction of a process for each. */
export class CliHost {
  private readonly child: ChildProcess;
  private readonly ended: Promise<never>;
  private last: Promise<unknown> = Promise.resolve();

  /** @param folder the working directory */
  constructor(folder: string) {
    const env = { PATH: process.env.PATH, HOME: folder };
    this.child = fork(join(ROOT, 'test/support/cli-host.js'), { cwd: folder, env, execArgv: [] });
    this.ended = once(this.child, 'exit').then(() => {
      throw new Error('A command ended the process of all commands.');
    });
    this.ended.catch(() => undefined);
  }

  run(args: readonly string[], environment: Environment): Promise<Output> {
    const output = this.last.then(async () => {
      this.child.send({ args, environment });
      const [sent] = (await Promise.race([once(this.child, 'message'), this.ended])) as [Output];
      return sent;
    });
    this.last = output;
    return output;
  }

  async stop(): Promise<void> {
    if (this.child.connected) this.child.disconnect();
    await this.ended.catch(() => undefined);
  }
}

export async function runScript(name: string, args: readonly string[], options: Start): Promise<Output> {
  return start([process.execPath, join(ROOT, 'scripts', name), ...args], options).ended;
}

export async function freshFolder(): Promise<{ readonly path: string; remove(): Promise<void> }> {
  const path = await mkdtemp(join(tmpdir(), 'waitlist-newcomer-'));
  return { path, remove: () => rm(path, { recursive: true, force: true }) };
}
