import { createHash } from 'node:crypto';
import type { ComponentChildren } from 'preact';
import { renderToString } from 'preact-render-to-string';
import type { PublicWaitlist } from '../../web/page/model.js';
import { themeOf } from '../../web/page/theme.js';
import type { Texts } from '../../web/page/texts.js';
import { type PagePolicy, safeHeaders } from '../platform/http/headers.js';
import { withCaptcha } from './captcha-policy.js';

/** The addresses of the files that a page loads. */
export interface Assets {
  readonly css: string;
  readonly script: string;
}

export interface Page {
  /** The waitlist that gives the colors; null for the defaults. */
  readonly waitlist: PublicWaitlist | null;
  readonly texts: Texts;
  /** Address of an image of another host; null on private pages, so that the host does not learn of their readers. */
  readonly logo: string | null;
  /** The captcha of its form; omitted without one. */
  readonly captcha?: PublicWaitlist['captcha'];
  /** Other origins that its forms lead to by a redirect. Browsers check redirects against `form-action` too. */
  readonly formOrigins?: readonly string[];
  /** Whether its script connects to this service, for live places. */
  readonly isLive?: boolean;
  /** Origins whose pages may frame this one. */
  readonly frameOrigins: readonly string[];
  readonly title: string;
  /** For search engines and previews of links; null for a private page. */
  readonly preview: { readonly url: string; readonly description: string } | null;
  readonly content: ComponentChildren;
}

export interface Rendered {
  readonly html: string;
  /** Those that are undefined are left out. */
  readonly headers: Readonly<Record<string, string | undefined>>;
}

const FAVICON =
  "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 32 32'%3E%3Crect width='32' height='32' rx='8' fill='%231a1d21'/%3E%3Cpath d='M9 11h14M9 16h10M9 21h6' stroke='%23fff' stroke-width='2.5' stroke-linecap='round'/%3E%3C/svg%3E";
const CANVAS = { light: '#f5f6f7', dark: '#0d0e11' };

export function renderPage(page: Page, assets: Assets): Rendered {
  const { waitlist, texts, logo, title, preview, content } = page;
  const { scheme, properties } = themeOf(waitlist?.configuration_style_json ?? {});
  // Twice, so that it counts more than the sheet's own rules.
  const declarations = Object.entries(properties).map(([name, value]) => `${name}:${value}`);
  const css = declarations.length > 0 ? `:root:root{${declarations.join(';')}}` : '';
  const html = renderToString(
    <html lang={texts.lang} dir={texts.direction} data-scheme={scheme ?? undefined}>
      <head>
        <meta charset="utf-8" />
        <title>{title}</title>
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content={scheme ?? 'light dark'} />
        {(['light', 'dark'] as const).map((name) => (
          <meta
            key={name}
            name="theme-color"
            media={`(prefers-color-scheme: ${name})`}
            content={CANVAS[scheme ?? name]}
          />
        ))}
        {preview ? <Preview title={title} logo={logo} {...preview} /> : <meta name="robots" content="noindex" />}
        <link rel="icon" href={FAVICON} />
        <link rel="stylesheet" href={assets.css} />
        {css !== '' && <style dangerouslySetInnerHTML={{ __html: css }} />}
        <script type="module" src={assets.script} />
      </head>
      <body>
        <main class="waitlist-card">
          {logo !== null && <img class="waitlist-logo" src={logo} alt="" referrerpolicy="no-referrer" />}
          {content}
        </main>
      </body>
    </html>,
  );
  // Browsers leave out a line break that follows the tag.
  const whole = html.replaceAll(/<textarea[^>]*>(?=\n)/g, '$&\n');
  return { html: `<!doctype html>${whole}`, headers: headersOf(css, page) };
}

interface PreviewProps extends NonNullable<Page['preview']> {
  readonly title: string;
  readonly logo: string | null;
}

function Preview({ title, logo, url, description }: PreviewProps) {
  return (
    <>
      <meta name="description" content={description} />
      <link rel="canonical" href={url} />
      <meta property="og:type" content="website" />
      <meta property="og:url" content={url} />
      <meta property="og:title" content={title} />
      <meta property="og:description" content={description} />
      {logo !== null && <meta property="og:image" content={logo} />}
      <meta name="twitter:card" content="summary" />
    </>
  );
}

function headersOf(css: string, { logo, captcha, isLive, formOrigins = [], frameOrigins }: Page): Rendered['headers'] {
  const hash = css === '' ? [] : [`'sha256-${createHash('sha256').update(css).digest('base64')}'`];
  const own: PagePolicy = {
    'script-src': ["'self'"],
    'style-src': ["'self'", ...hash],
    'img-src': ["'self'", 'data:', ...(logo === null ? [] : [new URL(logo).origin])],
    ...(isLive && { 'connect-src': ["'self'"] }),
    'form-action': ["'self'", ...formOrigins],
    'frame-ancestors': frameOrigins.length > 0 ? frameOrigins : ["'none'"],
  };
  const headers = safeHeaders(captcha ? withCaptcha(own, captcha.provider) : own);
  // X-Frame-Options cannot list origins, and browsers that know `frame-ancestors` ignore it.
  return { ...headers, 'x-frame-options': frameOrigins.length > 0 ? undefined : 'DENY' };
}
