import { EventEmitter, once } from 'node:events';
import type { FileHandle } from 'node:fs/promises';
import { Readable } from 'node:stream';

/** Bytes read at once. */
const CHUNK_BYTES = 64 * 1024;

/** A file that is written at one speed and read, from its start, at another. */
export class Spool {
  private readonly changes = new EventEmitter();
  private file: FileHandle | undefined;
  private length = 0;
  private end: { readonly error: Error | undefined } | undefined;

  /** Call it before the first write. */
  open(file: FileHandle): void {
    this.file = file;
  }

  async write(text: string): Promise<void> {
    await this.file?.appendFile(text);
    this.length += Buffer.byteLength(text);
    this.changes.emit('change');
  }

  /** Ends the text. A reader gets the error, if any, after the text. */
  finish(error?: Error): void {
    this.end ??= { error };
    this.changes.emit('change');
  }

  /** Resolves when there is text to read, or will be none. @throws the error of {@link finish} if there is none */
  async begun(): Promise<void> {
    await this.changed(0);
    if (this.length === 0 && this.end?.error !== undefined) throw this.end.error;
  }

  /** The whole text from its start, including later writes. */
  read(): Readable {
    return Readable.from(this.chunks(), { objectMode: false, highWaterMark: CHUNK_BYTES });
  }

  /** Closes the file. A stream that still reads it fails. */
  async close(): Promise<void> {
    await this.file?.close();
  }

  private async *chunks(): AsyncGenerator<Buffer> {
    for (let position = 0; ;) {
      await this.changed(position);
      if (this.length === position || !this.file) {
        if (this.end?.error !== undefined) throw this.end.error;
        return;
      }
      const { bytesRead, buffer } = await this.file.read(Buffer.alloc(CHUNK_BYTES), 0, CHUNK_BYTES, position);
      position += bytesRead;
      yield buffer.subarray(0, bytesRead);
    }
  }

  /** Resolves when there is text after this position, or there will be none. */
  private async changed(position: number): Promise<void> {
    while (this.length === position && !this.end) await once(this.changes, 'change');
  }
}
