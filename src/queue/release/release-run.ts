import { createHash } from 'node:crypto';
import { v7 as uuidV7 } from 'uuid';

export const RUN_STATES = ['running', 'done', 'skipped'] as const;

/** A run of a release plan. It offers seats in pieces, each a command of the queue. */
export interface ReleaseRun {
  /** UUID v7 with the time `plannedAt`, so ids sort by it. */
  readonly id: string;
  readonly waitlistId: number;
  readonly state: (typeof RUN_STATES)[number];
  /** For a run by hand, the moment of the request. */
  readonly plannedAt: Date;
  /** Null if it was skipped. */
  readonly ranAt: Date | null;
  /** The most people that it offers a seat. */
  readonly count: number;
  /** How many people it has offered a seat. */
  readonly offered: number;
  /** How many pieces are done. */
  readonly pieces: number;
  /** The member who asked for it; null for a planned run, and for a key. */
  readonly memberId: string | null;
}

/** The id of the run at a planned time. It is the same in every process, so no run is made twice. */
export function plannedRunId(waitlistId: number, plannedAt: Date): string {
  return derivedId(plannedAt.getTime(), [waitlistId, plannedAt.toISOString()]);
}

/** The id of the command for the next piece of a run. It is the same in every process, so no piece is offered twice. */
export function pieceId({ id, ranAt, pieces }: Pick<ReleaseRun, 'id' | 'ranAt' | 'pieces'>): string {
  return derivedId((ranAt?.getTime() ?? 0) + pieces, [id, pieces]);
}

function derivedId(msecs: number, source: readonly unknown[]): string {
  return uuidV7({ msecs, random: createHash('sha256').update(JSON.stringify(source)).digest() });
}
