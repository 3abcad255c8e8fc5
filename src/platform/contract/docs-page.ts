import { STATUS_CODES } from 'node:http';
import { createRequire } from 'node:module';
import { dirname } from 'node:path';
import fastifyStatic from '@fastify/static';
import type { OpenAPIObject } from '@nestjs/swagger';
import type { FastifyInstance } from 'fastify';
import { PROBLEMS, type ProblemCode, problemEntry } from '../problems/problem-catalog.js';
import { safeHeaders } from '../http/safe-headers.js';

/** Scripts, styles and requests from this host alone, nothing inline; Swagger UI draws some icons from `data:`. */
const PAGE_HEADERS = {
  ...safeHeaders({
    'script-src': ["'self'"],
    'style-src': ["'self'"],
    'img-src': ["'self'", 'data:'],
    'connect-src': ["'self'"],
  }),
  'Cache-Control': 'no-cache',
};
const ASSETS = new Set(['/swagger-ui.css', '/swagger-ui-bundle.js']);
const ASSET_MAX_AGE = '1h';

/**
 * Serves the contract at `/openapi.json`, Swagger UI for it at `/docs`, and what each error means at `/docs/errors`.
 * The page is our own, because that of `@nestjs/swagger` has inline styles, which a strict policy refuses.
 */
export async function serveDocs(fastify: FastifyInstance, document: OpenAPIObject, basePath: string): Promise<void> {
  const contract = JSON.stringify(document);
  const docs = `${basePath.replace(/\/$/, '')}/docs`;
  const files: Readonly<Record<string, readonly [type: string, text: string]>> = {
    '/openapi.json': ['application/json; charset=utf-8', contract],
    '/docs': ['text/html; charset=utf-8', swaggerPage(docs)],
    '/docs/errors': ['text/html; charset=utf-8', errorsPage(docs)],
    '/docs/start.js': ['text/javascript; charset=utf-8', START],
    '/docs/page.css': ['text/css; charset=utf-8', STYLE],
    '/docs/favicon.svg': ['image/svg+xml', FAVICON],
  };
  for (const [path, [type, text]] of Object.entries(files)) {
    fastify.get(path, async (_, reply) => reply.headers(PAGE_HEADERS).type(type).send(text));
  }
  await fastify.register(fastifyStatic, {
    root: dirname(createRequire(import.meta.url).resolve('swagger-ui-dist/package.json')),
    prefix: '/docs/assets/',
    allowedPath: (path) => ASSETS.has(path),
    index: false,
    decorateReply: false,
    maxAge: ASSET_MAX_AGE,
  });
}

const head = (docs: string, title: string) => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<link rel="icon" type="image/svg+xml" href="${docs}/favicon.svg">
<link rel="stylesheet" href="${docs}/page.css">`;

const swaggerPage = (docs: string) => `${head(docs, 'Waitlist Service')}
<link rel="stylesheet" href="${docs}/assets/swagger-ui.css">
</head>
<body>
<div id="swagger-ui"></div>
<script src="${docs}/assets/swagger-ui-bundle.js"></script>
<script src="${docs}/start.js"></script>
</body>
</html>
`;

/**
 * A first start prints a link to `/docs` with its owner's values behind the `#`, which browsers send to nobody. They stand
 * in the examples, so that each works when pressed, until the tab is closed.
 */
const START = `(async ({ src }) => {
  const linked = new URLSearchParams(location.hash.slice(1));
  if (linked.has('api_key')) {
    sessionStorage.setItem('examples', JSON.stringify(Object.fromEntries(linked)));
    history.replaceState(null, '', location.pathname);
  }
  const examples = JSON.parse(sessionStorage.getItem('examples') ?? '{}');
  const spec = await (await fetch(new URL('../openapi.json', src))).json();
  const { CreateTokens, OffboardWaiters } = spec.components.schemas;
  const fields = [
    ...Object.entries(CreateTokens.properties),
    ['api_key', OffboardWaiters.properties.api_key],
    ['api_key', spec.paths['/api/v1/waiter'].get.parameters.find(({ name }) => name === 'api_key')],
  ];
  for (const [name, field] of fields) if (examples[name] !== undefined) field.example = examples[name];
  SwaggerUIBundle({
    spec,
    dom_id: '#swagger-ui',
    deepLinking: true,
    displayRequestDuration: true,
    persistAuthorization: true,
    tryItOutEnabled: true,
    defaultModelsExpandDepth: 0,
    syntaxHighlight: { theme: 'idea' },
    validatorUrl: null,
  });
})(document.currentScript);
`;

function errorsPage(docs: string): string {
  const entries = (Object.keys(PROBLEMS) as ProblemCode[]).map((code) => {
    const { status, detail, remedy } = problemEntry(code);
    return `<section id="${code.toLowerCase()}">
<h2>${code}</h2>
<p>${status} ${STATUS_CODES[status]}: “${escapeHtml(detail)}”</p>
<p>${escapeHtml(remedy).replaceAll(/`([^`]+)`/g, '<code>$1</code>')}</p>
</section>`;
  });
  return `${head(docs, 'Errors · Waitlist Service')}
</head>
<body>
<main class="errors">
<h1>Errors</h1>
<p>Each failing answer is a problem (RFC 9457) whose <code>error_code</code> is one of these. <a href="${docs}">The API</a></p>
${entries.join('\n')}
</main>
</body>
</html>
`;
}

function escapeHtml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
}

const STYLE = `body { margin: 0; background: #fafafa; }
.swagger-ui .opblock-body { overflow-x: auto; }
.swagger-ui .opblock-tag { flex-wrap: wrap; }
.errors { max-width: 44rem; margin: 2rem auto; padding: 0 1rem; font: 1rem/1.5 system-ui, sans-serif; color: #222; }
.errors section { border-top: 1px solid #ddd; }
.errors section:target { background: #fff6d6; }
.errors h2 { font: 600 1rem/1.5 ui-monospace, monospace; }
`;

const FAVICON = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32">
<rect width="32" height="32" rx="7" fill="#1f4b99"/>
<circle cx="9" cy="12" r="4" fill="#fff"/><circle cx="18" cy="12" r="3" fill="#b9cdf2"/><circle cx="25.5" cy="12" r="2.2" fill="#7f9fd9"/>
<path d="M5 24h22" stroke="#fff" stroke-width="2.5" stroke-linecap="round"/>
</svg>
`;
