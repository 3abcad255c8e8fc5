/** A mail server that takes a hundred mails a second, a process of its own. */
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { SMTPServer } from 'smtp-server';

const PER_SECOND = 100;
let nextMs = 0;

const server = new SMTPServer({
  authOptional: true,
  disabledCommands: ['AUTH', 'STARTTLS'],
  onData: (stream, _, answer) => {
    stream.resume().on('end', () => {
      nextMs = Math.max(nextMs, performance.now()) + 1_000 / PER_SECOND;
      setTimeout(() => answer(), nextMs - performance.now());
    });
  },
});
server.on('error', () => undefined);
server.listen(0, '127.0.0.1');
await once(server.server, 'listening');
process.send?.(`smtp://127.0.0.1:${(server.server.address() as AddressInfo).port}`);
process.on('disconnect', () => process.exit());
