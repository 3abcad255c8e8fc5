import { setTimeout } from 'node:timers/promises';
import type { FastifyRequest } from 'fastify';
import { ProblemDto } from '../platform/problems/problem.dto.js';
import { safeError } from '../platform/problems/problem.filter.js';
import { Problem } from '../platform/problems/problem.js';
import { ImportReportDto } from './import.dto.js';
import type { ImportUnderWay } from './import.service.js';

const PROGRESS_MS = 1_000;

/** An import as lines of JSON: its progress each second, then its report or the problem. */
export async function* progressLines(
  { progress, report }: ImportUnderWay,
  { id, log }: Pick<FastifyRequest, 'id' | 'log'>,
): AsyncGenerator<string> {
  const end: Promise<ImportReportDto | ProblemDto> = report.then(
    (done) => ImportReportDto.from(done),
    (error: unknown) => {
      if (error instanceof Problem) return ProblemDto.from(error, id);
      log.error({ error: safeError(error) }, 'unexpected error');
      return ProblemDto.from(new Problem('INTERNAL_ERROR'), id);
    },
  );
  for (;;) {
    yield line(progress);
    const timer = new AbortController();
    const ended = await Promise.race([end, setTimeout(PROGRESS_MS, null, { signal: timer.signal }).catch(() => null)]);
    timer.abort();
    if (ended) {
      yield line(ended);
      return;
    }
  }
}

function line(value: object): string {
  return `${JSON.stringify(value)}\n`;
}
