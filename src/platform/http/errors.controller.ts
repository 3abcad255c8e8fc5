import { STATUS_CODES } from 'node:http';
import { Controller, Get, Header } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import { PROBLEM_CODES } from '../problem-codes.js';
import { HTTP_FAULTS, INTERNAL_ERROR, problemType, STATUS } from './problem-status.js';
import { Public } from './public.js';

/** The page that the `type` of every problem points into: each code, what it means and what to do. */
@ApiExcludeController()
@Public()
@Controller('docs/errors')
export class ErrorsController {
  @Get()
  @Header('Content-Type', 'text/html; charset=utf-8')
  showErrors(): string {
    return PAGE;
  }
}

const entries = [
  ...Object.entries(PROBLEM_CODES).map(([code, entry]) => ({ status: STATUS[entry.kind], code, ...entry })),
  ...Object.entries(HTTP_FAULTS).map(([status, { detail, ...fault }]) => ({
    status: Number(status),
    meaning: detail,
    ...fault,
  })),
  { status: 500, meaning: INTERNAL_ERROR.detail, code: INTERNAL_ERROR.code, remedy: INTERNAL_ERROR.remedy },
].sort((one, other) => one.status - other.status);

/** Our own texts, but `<email>` in one of them is text too. */
function html(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll(/`([^`]+)`/g, '<code>$1</code>');
}

const PAGE = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Errors of the Waitlist Service</title>
<style>
  body { font: 16px/1.5 system-ui, sans-serif; max-width: 46rem; margin: 2rem auto; padding: 0 1rem; color: #222; background: #fff }
  h2 { font-size: 1rem; margin: 1.5rem 0 0 } h2 small { color: #555; font-weight: normal } p { margin: 0 }
  :target { background: #fff3b0 }
</style>
<h1>Errors</h1>
<p>Every failure is answered with problem details (RFC 9457). Programs compare <code>error_code</code>, which is stable;
<code>detail</code> is for people, and <code>instance</code> is the id of the request in the log.
See also the <a href="/docs">operations</a>.</p>
${entries
  .map(
    ({ code, status, meaning, remedy }) => `<h2 id="${problemType(code).split('#')[1]}">${code}
<small>${status} ${STATUS_CODES[status] ?? ''}</small></h2>
<p>${html(meaning)}</p>
<p>${html(remedy)}</p>`,
  )
  .join('\n')}
</html>
`;
