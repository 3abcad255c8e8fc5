/**
 * The clients of `bench/live.ts`, in a separate process: opens streams of live places, and reports how late each change
 * reached them.
 */
import { Agent, type ClientRequest, get } from 'node:http';

export type WatcherMessage =
  | { readonly open: { readonly url: string; readonly waitlistId: number; readonly uuids: readonly string[] } }
  /** Starts the clock: a change that reaches all streams follows. */
  | 'mark'
  /** How long after the mark each stream got its next event; null for those that have got none. */
  | 'delays'
  | 'close';

const agent = new Agent({ maxSockets: Infinity });
/** Streams that are opened at once. */
const OPENING_MAX = 50;

interface Stream {
  readonly request: ClientRequest;
  nextAtMs: number | null;
}

let streams: Stream[] = [];
let markedAtMs = 0;

async function open(url: string): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    const request = get(url, { agent }, (response) => {
      if (response.statusCode !== 200) return reject(new Error(`A stream was answered ${response.statusCode}`));
      response.setEncoding('utf8').on('data', (text: string) => {
        if (!text.includes('event: place')) return;
        stream.nextAtMs ??= performance.now();
        resolve();
      });
    });
    request.on('error', reject);
    const stream: Stream = { request, nextAtMs: null };
    streams.push(stream);
  });
}

async function handle(message: WatcherMessage): Promise<unknown> {
  if (message === 'mark') {
    markedAtMs = performance.now();
    for (const stream of streams) stream.nextAtMs = null;
    return 'marked';
  }
  if (message === 'delays') return streams.map(({ nextAtMs }) => nextAtMs && nextAtMs - markedAtMs);
  if (message === 'close') {
    for (const { request } of streams) request.destroy();
    streams = [];
    return 'closed';
  }
  const { url, waitlistId, uuids } = message.open;
  const left = [...uuids];
  const work = async () => {
    for (let uuid = left.pop(); uuid !== undefined; uuid = left.pop())
      await open(`${url}/api/v1/signup/events?waitlist_id=${waitlistId}&uuid=${uuid}`);
  };
  await Promise.all(Array.from({ length: OPENING_MAX }, work));
  return 'opened';
}

process.on('message', (message: WatcherMessage) => {
  handle(message).then(
    (answer) => process.send?.(answer),
    (error: unknown) => {
      process.stderr.write(`${String(error)}\n`);
      process.exit(1);
    },
  );
});
process.on('disconnect', () => process.exit());
process.send?.('ready');
