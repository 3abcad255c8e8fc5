/** Stands in for the script of a captcha provider, by what it documents. Nothing leaves the machine. */
import type { BrowserContext, Route } from 'playwright-core';
import { CAPTCHA_PROVIDERS, type Captcha } from '../../web/page/captcha-providers.js';

interface StandIn {
  /** The origins that pages may load from. */
  readonly origins: readonly string[];
  readonly script: string;
  readonly frame: string;
  /** What else the provider loads into the page. */
  readonly extras: readonly string[];
}

export const STAND_INS: Readonly<Record<Captcha['provider'], StandIn>> = {
  turnstile: {
    origins: ['https://challenges.cloudflare.com'],
    script: 'https://challenges.cloudflare.com/turnstile/v0/api.js',
    frame: 'https://challenges.cloudflare.com/stand-in.html',
    extras: [],
  },
  hcaptcha: {
    origins: ['https://js.hcaptcha.com', 'https://newassets.hcaptcha.com', 'https://api.hcaptcha.com'],
    script: 'https://js.hcaptcha.com/1/api.js',
    frame: 'https://newassets.hcaptcha.com/stand-in.html',
    extras: [
      `document.head.append(Object.assign(document.createElement('link'), { rel: 'stylesheet', href: 'https://newassets.hcaptcha.com/a.css' }));`,
      `fetch('https://api.hcaptcha.com/checksiteconfig');`,
    ],
  },
};

/** The name of the checkbox in its frame. */
export const CHECKBOX = 'I am human';

/**
 * Each tick gives a new token that the stand-in of `siteverify` takes once. The page keeps what was asked of the
 * script.
 */
function scriptOf(provider: Captcha['provider'], { frame, extras }: StandIn): string {
  return `{
    const widgets = [];
    const draw = (widget) => {
      const frame = document.createElement('iframe');
      Object.assign(frame, { title: 'Security check', width: 300, height: 65, src: '${frame}#' + widget.id });
      frame.style.border = '0';
      widget.container.replaceChildren(frame);
    };
    addEventListener('message', ({ data, origin }) => {
      if (origin !== new URL('${frame}').origin) return;
      widgets.find(({ id }) => id === data)?.options.callback('good-' + crypto.randomUUID());
    });
    window.${provider} = {
      render(container, options) {
        const widget = { id: '${provider}-' + widgets.length, container, options };
        widgets.push(widget);
        draw(widget);
        return widget.id;
      },
      reset: (id) => draw(widgets.find((widget) => widget.id === id)),
      remove: (id) => widgets.find((widget) => widget.id === id).container.replaceChildren(),
      options: () => widgets.map(({ options }) => JSON.parse(JSON.stringify(options))),
    };
    ${extras.join('\n')}
    const onload = new URL(document.currentScript.src).searchParams.get('onload');
    setTimeout(() => window[onload]());
  }`;
}

const FRAME = `<!doctype html><html lang="en"><title>Security check</title><body style="margin: 16px; color: #777">
  <label><input type="checkbox" onclick="parent.postMessage(location.hash.slice(1), '*')"> ${CHECKBOX}</label></body></html>`;

/** Serves the scripts of the providers to the pages of a context; counts the requests for each. */
export async function serveCaptchas(context: BrowserContext): Promise<Record<Captcha['provider'], number>> {
  const requests = { turnstile: 0, hcaptcha: 0 };
  for (const [provider, standIn] of Object.entries(STAND_INS) as [Captcha['provider'], StandIn][]) {
    const { script } = CAPTCHA_PROVIDERS[provider];
    if (!script.startsWith(`${standIn.script}?`)) throw new Error(`No stand-in for ${script}`);
    for (const origin of standIn.origins)
      await context.route(`${origin}/**`, (route: Route) => {
        const url = route.request().url();
        const headers = { 'access-control-allow-origin': '*' };
        if (url === standIn.frame || url.startsWith(`${standIn.frame}#`))
          return route.fulfill({ contentType: 'text/html', body: FRAME });
        if (!url.startsWith(standIn.script))
          return route.fulfill({
            headers,
            contentType: url.endsWith('.css') ? 'text/css' : 'application/json',
            body: '',
          });
        requests[provider] += 1;
        return route.fulfill({ contentType: 'text/javascript', body: scriptOf(provider, standIn) });
      });
  }
  return requests;
}
