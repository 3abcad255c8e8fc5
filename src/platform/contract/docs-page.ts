import { readFileSync } from 'node:fs';
import { STATUS_CODES } from 'node:http';
import { createRequire } from 'node:module';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import fastifyStatic from '@fastify/static';
import type { OpenAPIObject } from '@nestjs/swagger';
import type { FastifyInstance } from 'fastify';
import { safeHeaders } from '../http/headers.js';
import { PROBLEMS } from '../problems/problem-catalog.js';

const PAGES = new URL('./docs/', import.meta.url);
const SWAGGER_UI = dirname(createRequire(import.meta.url).resolve('swagger-ui-dist/package.json'));
const ASSETS = new Set(['/swagger-ui.css', '/swagger-ui-bundle.js', '/page.css', '/start.js', '/favicon.svg']);

/** Scripts, styles and requests from this host only, and nothing inline. Swagger UI draws some icons from `data:`. */
const PAGE_HEADERS = {
  ...safeHeaders({
    'script-src': ["'self'"],
    'style-src': ["'self'"],
    'img-src': ["'self'", 'data:'],
    'connect-src': ["'self'"],
  }),
  'cache-control': 'no-cache',
};

/**
 * Serves the contract at `/openapi.json`, Swagger UI for it at `/docs`, and an explanation of each error at `/docs/errors`.
 * The page is our own because the one of `@nestjs/swagger` has inline styles, which the strict policy refuses.
 */
export async function serveDocs(fastify: FastifyInstance, document: OpenAPIObject, basePath: string): Promise<void> {
  const docs = `${basePath.replace(/\/$/, '')}/docs`;
  const page = (name: string) => readFileSync(new URL(name, PAGES), 'utf8').replaceAll('{{docs}}', docs);
  const serve = (path: string, type: string, text: string) =>
    fastify.get(path, { exposeHeadRoute: true }, async (_, reply) => reply.headers(PAGE_HEADERS).type(type).send(text));
  serve('/openapi.json', 'application/json; charset=utf-8', JSON.stringify(document));
  serve('/docs', 'text/html; charset=utf-8', page('index.html'));
  serve('/docs/errors', 'text/html; charset=utf-8', page('errors.html').replace('{{errors}}', errorSections));
  await fastify.register(fastifyStatic, {
    root: [fileURLToPath(PAGES), SWAGGER_UI],
    prefix: '/docs/assets/',
    allowedPath: (path) => ASSETS.has(path),
    index: false,
    decorateReply: false,
  });
}

function errorSections(): string {
  const sections = Object.entries(PROBLEMS).map(
    ([code, { status, detail, remedy }]) => `<section id="${code.toLowerCase()}">
<h2>${code}</h2>
<p>${status} ${STATUS_CODES[status]}: “${escapeHtml(detail)}”</p>
<p>${escapeHtml(remedy).replaceAll(/`([^`]+)`/g, '<code>$1</code>')}</p>
</section>`,
  );
  return sections.join('\n');
}

function escapeHtml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
}
