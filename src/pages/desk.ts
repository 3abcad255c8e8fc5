import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, extname, join } from 'node:path';
import { Inject, Injectable } from '@nestjs/common';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { CONFIG, type Config } from '../platform/config/config.js';
import { safeHeaders } from '../platform/http/headers.js';
import { CSS, HTML, JAVASCRIPT, prepareFile, SVG } from '../platform/http/static-files.js';
import { Problem } from '../platform/problems/problem.js';

const INDEX = createRequire(import.meta.url).resolve('#web/desk/index.html');
const ASSETS = join(dirname(INDEX), 'assets');
const TYPES: Readonly<Record<string, string>> = { '.js': JAVASCRIPT, '.css': CSS, '.svg': SVG };
const ASSETS_PATH = 'assets/';
const NONCE_BYTES = 16;

/** Scripts of this host only. The component library inserts `<style>` elements, which need the nonce of their page. */
const policy = (nonce: string) => ({
  'script-src': ["'self'"],
  'style-src': ["'self'", `'nonce-${nonce}'`],
  // The preview of a mail has this policy too, and mail programs read nothing but `style` attributes.
  'style-src-attr': ["'unsafe-inline'"],
  'img-src': ["'self'", 'data:', 'blob:', 'https:'],
  'connect-src': ["'self'"],
  'form-action': ["'self'"],
});

/** Serves the owner's desk, whose files `npm run build:web` made. */
@Injectable()
export class Desk {
  private readonly basePath: string;
  private readonly sendsMail: boolean;

  constructor(@Inject(CONFIG) { basePath, mail }: Config) {
    this.basePath = basePath;
    this.sendsMail = mail !== null;
  }

  serve(fastify: FastifyInstance): void {
    const [page, asset] = [this.page(), this.assets()];
    const head = { exposeHeadRoute: true };
    fastify.get('/', head, async (_, reply) => reply.redirect(`${this.basePath}/desk`));
    fastify.get('/desk', head, page);
    fastify.get<{ Params: { '*': string } }>('/desk/*', head, async (request, reply) => {
      const { '*': path } = request.params;
      // The desk's own router reads all other paths.
      return path.startsWith(ASSETS_PATH)
        ? asset(path.slice(ASSETS_PATH.length), request, reply)
        : page(request, reply);
    });
  }

  private page() {
    const index = readFileSync(INDEX, 'utf8')
      .replace('name="base-path" content=""', `name="base-path" content="${this.basePath}"`)
      .replace('name="sends-mail" content="true"', `name="sends-mail" content="${this.sendsMail}"`)
      .replaceAll('"./assets/', `"${this.basePath}/desk/assets/`);
    return async (_: FastifyRequest, reply: FastifyReply) => {
      const nonce = randomBytes(NONCE_BYTES).toString('base64');
      return reply
        .headers({ ...safeHeaders(policy(nonce)), 'x-frame-options': 'DENY' })
        .type(HTML)
        .send(index.replace('nonce=""', `nonce="${nonce}"`));
    };
  }

  /** Their names hold the hashes of their contents. */
  private assets() {
    const files = new Map(
      readdirSync(ASSETS).map((name) => {
        const type = TYPES[extname(name)];
        if (type === undefined) throw new Error(`No media type for ${name}`);
        return [name, prepareFile({ type, text: readFileSync(join(ASSETS, name)), headers: safeHeaders({}) })];
      }),
    );
    return async (name: string, request: FastifyRequest, reply: FastifyReply) => {
      const file = files.get(name);
      if (!file) throw new Problem('NOT_FOUND');
      return file.send(request, reply, true);
    };
  }
}
