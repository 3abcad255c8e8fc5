import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { Inject, Injectable } from '@nestjs/common';
import type { FastifyInstance } from 'fastify';
import { LANGUAGES } from '../../web/page/texts.js';
import { CONFIG, type Config } from '../platform/config/config.js';
import { safeHeaders } from '../platform/http/headers.js';
import { CSS, HTML, JAVASCRIPT, JSON_TYPE, serveFile } from '../platform/http/static-files.js';
import { withCaptcha } from './captcha-policy.js';

const resolve = createRequire(import.meta.url).resolve;
const read = (name: string) => readFileSync(resolve(`#web/widget/${name}`));

/** Pages name the script without a hash, so they get a new version after this time. */
const SCRIPT_MAX_AGE_SECONDS = 300;
const SCRIPT_HEADERS = {
  ...safeHeaders({}),
  'cache-control': `public, max-age=${SCRIPT_MAX_AGE_SECONDS}`,
  'access-control-allow-origin': '*',
};
const DEMO_POLICY = {
  'script-src': ["'self'"],
  'style-src': ["'self'"],
  'img-src': ["'self'"],
  'connect-src': ["'self'"],
  'form-action': ["'self'"],
};
/** The demo shows the widget of any waitlist. */
const DEMO_HEADERS = safeHeaders(withCaptcha(withCaptcha(DEMO_POLICY, 'turnstile'), 'hcaptcha'));

/** Serves the widget, and below the documentation a page to try it. */
@Injectable()
export class Widget {
  constructor(@Inject(CONFIG) private readonly config: Config) {}

  serve(fastify: FastifyInstance): void {
    serveFile(fastify, '/widget.js', { type: JAVASCRIPT, text: read('widget.js'), headers: SCRIPT_HEADERS });
    for (const language of LANGUAGES) {
      const name = `texts/${language}.json`;
      serveFile(fastify, `/widget/${name}`, { type: JSON_TYPE, text: read(name), headers: SCRIPT_HEADERS });
    }
    if (!this.config.docsEnabled) return;
    const demo = (path: string, type: string, file: string) =>
      serveFile(fastify, path, { type, text: this.demoFile(file), headers: DEMO_HEADERS });
    demo('/docs/widget', HTML, 'demo.html');
    demo('/docs/assets/widget-demo.css', CSS, 'demo.css');
    demo('/docs/assets/widget-demo.js', JAVASCRIPT, 'demo.js');
  }

  private demoFile(name: string): string {
    const { publicBaseUrl } = this.config;
    return read(name)
      .toString()
      .replaceAll('{{service}}', publicBaseUrl)
      .replaceAll('{{origin}}', new URL(publicBaseUrl).origin);
  }
}
