import { readFileSync } from 'node:fs';
import { STATUS_CODES } from 'node:http';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import type { OpenAPIObject } from '@nestjs/swagger';
import type { FastifyInstance } from 'fastify';
import { safeHeaders } from '../http/headers.js';
import { CSS, HTML, JAVASCRIPT, prepareFile, serveFile, SVG } from '../http/static-files.js';
import { PROBLEMS } from '../problems/problem-catalog.js';
import { type DocumentName, DOCUMENTS } from './document.js';

const PAGES = new URL('./docs/', import.meta.url);
const SWAGGER_UI = dirname(createRequire(import.meta.url).resolve('swagger-ui-dist/package.json'));

/** Scripts, styles and requests from this host only, and nothing inline. Swagger UI draws some icons from `data:`. */
const PAGE_HEADERS = safeHeaders({
  'script-src': ["'self'"],
  'style-src': ["'self'"],
  'img-src': ["'self'", 'data:'],
  'connect-src': ["'self'"],
});

/** Serves a document of the contract. It is made at the first request, because that takes a tenth of a start. */
export function serveContract(fastify: FastifyInstance, path: string, makeDocument: () => OpenAPIObject): void {
  let file: ReturnType<typeof prepareFile> | undefined;
  fastify.get(path, { exposeHeadRoute: true }, (request, reply) => {
    file ??= prepareFile({
      type: 'application/json; charset=utf-8',
      text: JSON.stringify(makeDocument()),
      headers: PAGE_HEADERS,
    });
    return file.send(request, reply, false);
  });
}

/**
 * Serves Swagger UI for the contract at `/docs` and `/docs/legacy`, and each error's explanation at `/docs/errors`. The
 * page of `@nestjs/swagger` has inline styles, which the strict policy refuses.
 */
export function serveDocs(fastify: FastifyInstance, basePath: string): void {
  const own = (name: string) => readFileSync(new URL(name, PAGES));
  const vendor = (name: string) => readFileSync(join(SWAGGER_UI, name));
  const assets = {
    'favicon.svg': serveAsset(fastify, 'favicon.svg', SVG, own),
    'page.css': serveAsset(fastify, 'page.css', CSS, own),
    'start.js': serveAsset(fastify, 'start.js', JAVASCRIPT, own),
    'swagger-ui.css': serveAsset(fastify, 'swagger-ui.css', CSS, vendor),
    'swagger-ui-bundle.js': serveAsset(fastify, 'swagger-ui-bundle.js', JAVASCRIPT, vendor),
  };
  const docs = `${basePath}/docs`;
  const page = (name: string) =>
    own(name)
      .toString()
      .replaceAll(/\{\{asset:([^}]+)\}\}/g, (_, asset: keyof typeof assets) => `${docs}${assets[asset]}`)
      .replaceAll('{{docs}}', docs);
  const browser = ({ title, url }: (typeof DOCUMENTS)[DocumentName]) =>
    page('index.html').replace('{{title}}', title).replace('{{document}}', url.slice(1));
  serve(fastify, '/docs', HTML, browser(DOCUMENTS.current));
  serve(fastify, '/docs/legacy', HTML, browser(DOCUMENTS.legacy));
  serve(fastify, '/docs/errors', HTML, page('errors.html').replace('{{errors}}', errorSections));
}

/** Returns the URL of the asset, below `/docs`, with its hash. */
function serveAsset(fastify: FastifyInstance, name: string, type: string, read: (name: string) => Buffer): string {
  const hash = serve(fastify, `/docs/assets/${name}`, type, read(name));
  return `/assets/${name}?v=${hash}`;
}

function serve(fastify: FastifyInstance, path: string, type: string, text: string | Buffer): string {
  return serveFile(fastify, path, { type, text, headers: PAGE_HEADERS });
}

function errorSections(): string {
  const sections = Object.entries(PROBLEMS).map(
    ([code, { status, detail, remedy }]) => `<section id="${code.toLowerCase()}">
<h2>${code}</h2>
<p>${status} ${STATUS_CODES[status]}: “${inline(detail)}”</p>
<p>${inline(remedy)}</p>
</section>`,
  );
  return sections.join('\n');
}

/** HTML of a text that has code in backticks. */
function inline(text: string): string {
  return escapeHtml(text).replaceAll(/`([^`]+)`/g, '<code>$1</code>');
}

function escapeHtml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
}
