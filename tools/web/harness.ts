/**
 * Shared by the browser tests: the built service on a fresh embedded database, Chromium, and the checks of a page. It
 * needs `npm run web:install` and Chromium (Debian: `apt-get install chromium`; elsewhere name it in CHROMIUM).
 */
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { createServer } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import axe from 'axe-core';
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { withDataSource } from '../../test/support/database.js';
import { ServiceProcess } from '../../test/support/service-process.js';
import { call, logIn, ROOT, startService } from '../contract/service.js';

export const CHROMIUM = process.env.CHROMIUM ?? '/usr/bin/chromium';
export const BROWSER_ARGUMENTS = [
  ...['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run'],
  ...['--disable-background-networking', '--disable-component-update', '--disable-sync'],
];
export const PICTURES = join(ROOT, 'coverage/web');
/** A laptop and a phone. */
const WIDTHS = [1280, 390] as const;
const HEIGHTS = { 1280: 800, 390: 844 } as const;
const SCHEMES = ['light', 'dark'] as const;
type Width = (typeof WIDTHS)[number];

export type Service = Awaited<ReturnType<typeof startService>>;
export { call, logIn };

function launch(...more: string[]): Promise<Browser> {
  if (!existsSync(CHROMIUM)) throw new Error(`There is no browser at ${CHROMIUM}: install Chromium, or set CHROMIUM.`);
  return chromium.launch({ executablePath: CHROMIUM, args: [...BROWSER_ARGUMENTS, ...more] });
}

interface PageOptions {
  readonly width?: Width;
  readonly colorScheme?: (typeof SCHEMES)[number];
  readonly javaScriptEnabled?: boolean;
  /** Origins that the page may load from, besides the service's own. */
  readonly origins?: readonly string[];
  /** An error that its scripts may report. */
  readonly expectedError?: RegExp;
}

/** A service and a browser. Tests of a file share one: `before(async () => { stage = await Stage.open(); })`. */
export class Stage {
  private readonly complaints: string[] = [];

  private constructor(
    readonly service: Service,
    private readonly browser: Browser,
  ) {}

  /** `environment` is the service's, besides the defaults of `startService`. */
  static async open(environment: Readonly<Record<string, string>> = {}): Promise<Stage> {
    await mkdir(PICTURES, { recursive: true });
    const [service, browser] = await Promise.all([startService(environment), launch()]);
    return new Stage(service, browser);
  }

  /** For a service that runs elsewhere. */
  static async at(service: Service, ...browserArguments: string[]): Promise<Stage> {
    return new Stage(service, await launch(...browserArguments));
  }

  /**
   * Fails if a page complained: an error on its console, a break of its policy, a request to another origin, a broken
   * file.
   */
  async close(): Promise<void> {
    await this.browser.close();
    await this.service.stop();
    assert.deepEqual(this.complaints, []);
  }

  /** A page of a visitor of its own: no cookies, no storage. */
  async openPage({ width = 1280, origins = [], expectedError, ...options }: PageOptions = {}): Promise<Page> {
    const context = await this.browser.newContext({
      ...(options satisfies BrowserContextOptions),
      viewport: { width, height: HEIGHTS[width] },
      // Animations would make screenshots differ.
      reducedMotion: 'reduce',
      permissions: ['clipboard-read', 'clipboard-write'],
    });
    const page = await context.newPage();
    const allowed = [new URL(this.service.url).origin, ...origins, 'null'];
    const complain = (text: string) => {
      if (!expectedError?.test(text)) this.complaints.push(`${page.url()}: ${text}`);
    };
    page.on('request', (request) => {
      if (!allowed.includes(new URL(request.url()).origin)) complain(`It requests ${request.url()}`);
    });
    page.on('response', (response) => {
      // A refused call, form or stream is part of a journey; a missing file never is.
      const isFile = !['document', 'eventsource', 'fetch', 'xhr'].includes(response.request().resourceType());
      if (isFile && response.status() >= 400) complain(`${response.url()} answers ${response.status()}`);
    });
    page.on('console', (message) => {
      // The browser notes refused and lost requests here too. The journeys see what the page makes of them.
      if (message.type() === 'error' && !message.text().startsWith('Failed to load resource')) complain(message.text());
    });
    page.on('pageerror', (error) => {
      // A browser that leaves a page cancels its files. The answer to a missing file is a complaint above.
      if (!/Unable to preload CSS/.test(String(error))) complain(String(error));
    });
    return page;
  }

  /** Signs in to the desk by its form, as the owner of the first start. */
  async signIn(page: Page, path = '/desk'): Promise<void> {
    await page.goto(`${this.service.url}${path}`);
    await page.getByLabel(/^email/i).fill(this.service.email);
    await page.getByLabel(/^password/i).fill(this.service.password);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('button', { name: 'Sign in' }).waitFor({ state: 'detached' });
  }

  /** Makes a waitlist with these settings; returns its id. */
  async waitlist(settings: object = {}): Promise<number> {
    const body = { waitlist_name: 'Acme', ...settings };
    const { id } = await call(this.service, 'POST', '/api/v1/waitlist', {
      body,
      token: await logIn(this.service),
      status: 201,
    });
    return id as number;
  }

  async configure(waitlistId: number, settings: object): Promise<void> {
    const token = await logIn(this.service);
    await call(this.service, 'PATCH', `/api/v1/waitlist/${waitlistId}`, { body: settings, token });
  }

  /** The first people of a waitlist, as its owner lists them. */
  async list(waitlistId: number, query: Readonly<Record<string, unknown>> = {}): Promise<Record<string, unknown>[]> {
    const parameters = new URLSearchParams({ waitlist_id: String(waitlistId), ...query } as Record<string, string>);
    return call(this.service, 'GET', `/api/v1/waiter?${parameters.toString()}`, { token: await logIn(this.service) });
  }

  /** Lets the first people of a waitlist in. */
  async letIn(waitlistId: number, count: number): Promise<void> {
    const token = await logIn(this.service);
    const body = { waitlist_id: waitlistId, offboard_request: true, offboard_next: count };
    await call(this.service, 'PATCH', '/api/v1/waiter', { body, token });
  }

  /** Imports people into a waitlist: `person-<n>@example.com`, n from 1, each tenth referred by the first. */
  async importPeople(count: number, waitlistId = 1): Promise<void> {
    const lines = ['email,first_name,last_name,referral_token,referred_by'];
    for (let n = 1; n <= count; n += 1)
      lines.push(
        `person-${n}@example.com,Person,Number ${n},${n === 1 ? 'FRST00000000' : ''},${n % 10 === 0 ? 'FRST00000000' : ''}`,
      );
    await this.importCsv(waitlistId, lines);
  }

  /** Fills an empty waitlist with people, `seed-<n>@example.com`, n from 0. Made for many more than an import is. */
  async seed(count: number, waitlistId = 1): Promise<void> {
    const environment = { DATABASE_URL: this.service.databaseUrl };
    const command = ['dist/src/cli.js', 'waitlist', 'seed', String(waitlistId), '--count', String(count)];
    const seeding = await ServiceProcess.spawn(environment, ...command);
    assert.equal(await seeding.exit, 0, seeding.output);
  }

  /** Makes the time of all open offers of a waitlist be over. The process that serves it ends them. */
  async passOffers(waitlistId: number): Promise<void> {
    await withDataSource(this.service.databaseUrl, async (database) => {
      await database.query('PRAGMA busy_timeout = 10000');
      await database.query(
        `UPDATE waiter SET offer_expires_at = (SELECT made_at FROM offer WHERE waiter_uuid = waiter.uuid AND state = 0)
         WHERE waitlist_id = ? AND offer_expires_at IS NOT NULL`,
        [waitlistId],
      );
      await database.query(
        'UPDATE offer SET expires_at = made_at, due_at = made_at WHERE waitlist_id = ? AND state = 0',
        [waitlistId],
      );
    });
  }

  /** The first line names the columns. All others must be imported. */
  async importCsv(waitlistId: number, lines: readonly string[]): Promise<void> {
    const response = await fetch(`${this.service.url}/api/v1/waitlist/${waitlistId}/import`, {
      method: 'POST',
      headers: { 'content-type': 'text/csv', authorization: `Bearer ${await logIn(this.service)}` },
      body: lines.join('\n'),
    });
    const report = (await response.json()) as { imported?: number };
    if (report.imported !== lines.length - 1)
      throw new Error(`Not all were imported: ${JSON.stringify(report).slice(0, 500)}`);
  }
}

interface CheckOptions {
  readonly widths?: readonly Width[];
  readonly schemes?: readonly (typeof SCHEMES)[number][];
  readonly fullPage?: boolean;
}

/**
 * Looks at the page at each of the widths, in each color scheme. Fails if axe-core finds a violation, and if the page
 * scrolls sideways. With a name, it takes pictures into coverage/web. axe-core looks into open shadow roots, and needs
 * scripts.
 */
export async function checkPage(
  page: Page,
  name?: string,
  { widths = WIDTHS, schemes = SCHEMES, fullPage = true }: CheckOptions = {},
): Promise<void> {
  const session = await page.context().newCDPSession(page);
  // Through the debugger, because a page's own policy refuses foreign scripts.
  const evaluate = async (expression: string): Promise<unknown> => {
    const { result, exceptionDetails } = await session.send('Runtime.evaluate', {
      expression,
      awaitPromise: true,
      returnByValue: true,
    });
    if (exceptionDetails) throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text);
    return result.value;
  };
  await evaluate(`${axe.source}; undefined`);
  const viewport = page.viewportSize();
  for (const width of widths) {
    await page.setViewportSize({ width, height: HEIGHTS[width] });
    for (const colorScheme of schemes) {
      await page.emulateMedia({ colorScheme });
      // All other rules find the same in both schemes.
      const runOnly = colorScheme === 'light' ? undefined : ['color-contrast', 'link-in-text-block'];
      const found = (await evaluate(
        `new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)))
          .then(() => axe.run(${JSON.stringify({ resultTypes: ['violations'], runOnly })}))
          .then(({ violations }) => violations.flatMap(({ id, help, nodes }) =>
            nodes.map(({ target, failureSummary }) => [id, help, target.join(' '), failureSummary].join(' | '))))`,
      )) as string[];
      const where = `${page.url()} at ${width} px, ${colorScheme}`;
      assert.deepEqual(found, [], `axe-core: ${where}`);
      if (name !== undefined)
        await page.screenshot({ path: join(PICTURES, `${name}-${width}-${colorScheme}.png`), fullPage });
    }
    const isWider = await page.evaluate(() => document.documentElement.scrollWidth > innerWidth);
    assert.equal(isWider, false, `${page.url()} is wider than ${width} px`);
  }
  await page.emulateMedia({ colorScheme: null });
  if (viewport) await page.setViewportSize(viewport);
  await session.detach();
}

export interface Site {
  readonly url: string;
  stop(): Promise<void>;
}

/** A site on another origin, as those that embed the widget, with a Content-Security-Policy. */
export async function startSite(
  page: (path: string) => { readonly html: string; readonly policy: string },
): Promise<Site> {
  const server = createServer((request, response) => {
    const path = request.url ?? '/';
    // Browsers ask for it by themselves.
    if (path === '/favicon.ico') return response.writeHead(204).end();
    const { html, policy } = page(path);
    const headers = { 'content-type': 'text/html; charset=utf-8', 'content-security-policy': policy };
    return response.writeHead(200, headers).end(html);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    // The service is at `localhost`, so that this is another site too.
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async stop() {
      server.closeAllConnections();
      await once(server.close(), 'close');
    },
  };
}
