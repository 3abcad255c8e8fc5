/*
 * The imports of this visit. They live outside of the page, so that one goes on while its owner looks at another page
 * of the desk. XMLHttpRequest sends the file, because fetch does not tell how much of it has left.
 */
import { notifications } from '@mantine/notifications';
import { basePath } from '../environment';
import type { Mapping } from '../../../src/transfer/column-names';
import type { components } from '../generated/openapi';
import { countPeople } from '../parts/format';
import { Problem } from '../problem';
import { freshToken } from '../session';
import { createStore, useStore } from '../store';

export type ImportReport = components['schemas']['ImportReport'];

/** How far an import is: bytes while it uploads, then lines. */
export interface ImportProgress {
  readonly phase: 'uploading' | 'reading' | 'writing';
  readonly done: number;
  readonly total: number | null;
  /** When this phase began, by `performance.now()`. */
  readonly since: number;
}

interface Common {
  readonly file: File;
  /** The choices of the owner that differ from what the import reads by itself. */
  readonly mapping: Mapping;
  readonly isDryRun: boolean;
}
export type ImportRun = Common &
  (
    | { readonly state: 'running'; readonly progress: ImportProgress }
    | { readonly state: 'done'; readonly report: ImportReport }
    | { readonly state: 'failed'; readonly error: unknown }
    /** The connection broke after the file had arrived: the service goes on. */
    | { readonly state: 'out-of-sight' }
  );

type Line =
  | { readonly phase: 'receiving' | 'reading' | 'writing'; readonly done: number; readonly total: number | null }
  | ImportReport
  | Parameters<typeof Problem.from>[0];

/** By the id of the waitlist. */
const runs = createStore<ReadonlyMap<number, ImportRun | null>>(new Map());

export function useImportRun(waitlistId: number): ImportRun | null {
  return useStore(runs).get(waitlistId) ?? null;
}

/** Forgets a run that has ended. */
export function forgetImport(waitlistId: number): void {
  become(waitlistId, null);
}

function become(waitlistId: number, run: ImportRun | null): void {
  runs.set(new Map(runs.get()).set(waitlistId, run));
}

/** Sends a file. `lines` is their number, if a dry run has told it. */
export async function startImport(
  waitlistId: number,
  file: File,
  { mapping, isDryRun, lines }: Omit<Common, 'file'> & { readonly lines: number | null },
): Promise<void> {
  const common = { file, mapping, isDryRun };
  let progress: ImportProgress = { phase: 'uploading', done: 0, total: file.size, since: performance.now() };
  const advance = (phase: ImportProgress['phase'], done: number, total: number | null) => {
    progress = { phase, done, total, since: phase === progress.phase ? progress.since : performance.now() };
    become(waitlistId, { ...common, state: 'running', progress });
  };
  advance('uploading', 0, file.size);
  addEventListener('beforeunload', warn);
  try {
    const report = await send(
      `${basePath}/api/v1/waitlist/${waitlistId}/import?${queryOf(common)}`,
      file,
      (sent) => {
        advance('uploading', sent, file.size);
        if (sent === file.size) removeEventListener('beforeunload', warn);
      },
      ({ phase, done, total }) => {
        // Bytes that the service has are fewer than those that have left.
        if (phase !== 'receiving') advance(phase, done, total ?? lines);
      },
    );
    become(waitlistId, { ...common, state: 'done', report });
    // An open page shows the report.
    if (!isDryRun && !runs.hasListeners())
      notifications.show({ message: `Imported ${countPeople(report.imported)} from ${file.name}.` });
  } catch (error) {
    const hasArrived = progress.phase !== 'uploading' || progress.done === file.size;
    const isLost = !(error instanceof Problem) && hasArrived && !isDryRun;
    become(waitlistId, isLost ? { ...common, state: 'out-of-sight' } : { ...common, state: 'failed', error });
  } finally {
    removeEventListener('beforeunload', warn);
  }
}

function queryOf({ mapping, isDryRun }: Omit<Common, 'file'>): string {
  const isMapped = Object.keys(mapping).length > 0;
  return new URLSearchParams({
    ...(isDryRun && { dry_run: 'true' }),
    ...(isMapped && { columns: JSON.stringify(mapping) }),
  }).toString();
}

/** Before the page is left in the middle of an upload, which would end it. */
function warn(event: BeforeUnloadEvent): void {
  event.preventDefault();
}

/** Resolves with the report. @throws Problem; TypeError without a connection */
async function send(
  address: string,
  file: File,
  onSent: (bytes: number) => void,
  onProgress: (line: Extract<Line, { phase: string }>) => void,
): Promise<ImportReport> {
  const token = await freshToken();
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    let read = 0;
    /** The lines that have come since the last call. */
    const take = (): Line[] => {
      const end = request.responseText.lastIndexOf('\n') + 1;
      const fresh = request.responseText.slice(read, end);
      read = Math.max(read, end);
      return fresh.split('\n').flatMap((text) => (text ? [JSON.parse(text) as Line] : []));
    };
    const follow = () => {
      if (request.status !== 200) return;
      for (const line of take()) {
        if ('phase' in line) onProgress(line);
        else if ('error_code' in line) reject(Problem.from(line));
        else resolve(line);
      }
    };
    request.open('POST', address);
    request.setRequestHeader('authorization', `Bearer ${token}`);
    request.setRequestHeader('content-type', 'text/csv');
    request.setRequestHeader('accept', 'application/x-ndjson');
    request.upload.onprogress = ({ loaded }) => onSent(loaded);
    request.upload.onload = () => onSent(file.size);
    request.onprogress = follow;
    request.onload = () => {
      follow();
      const type = request.getResponseHeader('content-type') ?? '';
      const response = new Response(request.responseText, {
        status: request.status,
        headers: { 'content-type': type },
      });
      if (request.status !== 200) void Problem.of(response).then(reject, reject);
      // A stream that ends without a report was cut off; after one, this changes nothing.
      else reject(new TypeError('The answer was cut off.'));
    };
    request.onerror = () => reject(new TypeError('No connection.'));
    request.send(file);
  });
}
