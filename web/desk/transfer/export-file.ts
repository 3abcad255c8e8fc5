import { api, bodyOf } from '../api';

export type ExportFormat = 'csv' | 'ndjson';

const LINE_FEED = 10;
const QUOTE = 34;

/** Where a file may be written while it arrives: Chromium only, and only over https or on this machine. */
type Picker = (options: { suggestedName: string }) => Promise<{ createWritable: () => Promise<WritableStream> }>;

/**
 * Where an export goes. A stream into the file that the reader chose, written while the export arrives, where the
 * browser can; else 'collect': the browser holds the whole file first, a large one on the disk (150 MB for a million
 * people). Null if the reader chose no file.
 */
export async function openTarget(name: string): Promise<WritableStream<Uint8Array> | 'collect' | null> {
  const pick = (window as { showSaveFilePicker?: Picker }).showSaveFilePicker;
  if (!pick) return 'collect';
  try {
    return (await (await pick({ suggestedName: name })).createWritable()) as WritableStream<Uint8Array>;
  } catch (error) {
    if (error instanceof DOMException && error.name === 'AbortError') return null;
    throw error;
  }
}

/** The file as it arrives. `onProgress` gets the bytes and the people so far. */
export async function exportStream(
  waitlistId: number,
  format: ExportFormat,
  onProgress: (bytes: number, people: number) => void,
  signal: AbortSignal,
): Promise<ReadableStream<Uint8Array>> {
  const body = (await bodyOf(
    api.GET('/api/v1/waitlist/{waitlist_id}/export', {
      params: { path: { waitlist_id: waitlistId }, query: { format } },
      parseAs: 'stream',
      signal,
    }),
  )) as unknown as ReadableStream<Uint8Array>;
  const lines = lineCounter(format);
  let bytes = 0;
  return body.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        bytes += chunk.length;
        onProgress(bytes, lines(chunk));
        controller.enqueue(chunk);
      },
    }),
  );
}

/** Counts people: lines without the header, and without line breaks within quotes. */
function lineCounter(format: ExportFormat): (chunk: Uint8Array) => number {
  let lines = format === 'csv' ? -1 : 0;
  let isQuoted = false;
  return (chunk) => {
    for (const byte of chunk) {
      if (byte === QUOTE && format === 'csv') isQuoted = !isQuoted;
      else if (byte === LINE_FEED && !isQuoted) lines += 1;
    }
    return Math.max(0, lines);
  };
}
