import { createInterface } from 'node:readline';
import { Writable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { PASSWORD_RULE } from '../platform/contract/password-rule.js';

export async function readPassword(): Promise<string> {
  return process.stdin.isTTY ? askPassword() : (await text(process.stdin)).replace(/\r?\n$/, '');
}

/** Asks at the terminal without an echo, until the same password is given twice. */
async function askPassword(): Promise<string> {
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() });
  const terminal = createInterface({ input: process.stdin, output: silent, terminal: true });
  terminal.once('SIGINT', () => process.exit(130));
  // The iterator keeps a line that arrives before it is asked for.
  const lines = terminal[Symbol.asyncIterator]();
  const ask = async (prompt: string): Promise<string> => {
    process.stderr.write(prompt);
    const line = await lines.next();
    process.stderr.write('\n');
    // Ctrl-D
    if (line.done) process.exit(1);
    return line.value;
  };
  try {
    for (;;) {
      const password = await ask(`Password (${PASSWORD_RULE}): `);
      if (password === (await ask('The same password again: '))) return password;
      process.stderr.write('The two passwords differ. Try again.\n');
    }
  } finally {
    terminal.close();
  }
}
