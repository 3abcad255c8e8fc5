import { type Captcha, CAPTCHA_PROVIDERS } from './captcha-providers.js';

/** The parts of the providers' scripts that are used. Both have the same. */
interface Api {
  render(container: HTMLElement, options: object): string;
  reset(id: string): void;
  remove(id: string): void;
}

type Provider = Captcha['provider'];

/** What the scripts define and call. */
const globals = window as unknown as Partial<Record<Provider, Api>> & Record<`waitlist_${Provider}`, () => void>;

export interface ShownCaptcha {
  /** Asks for a new token: each is valid for one request. */
  renew(): void;
  remove(): void;
}

/** In CSS pixels. Below it, only the compact form of the captcha fits. */
const WIDTH_MIN = 304;

/**
 * Draws the captcha of the form in `root`, and keeps its token in the form. If it cannot be drawn, the form says so.
 * Null for a form without a captcha. `host` is the element of the widget. The captcha becomes its slotted child,
 * because the providers' scripts do not find elements in a shadow root.
 */
export function showCaptcha(root: ParentNode, host: HTMLElement | null = null): ShownCaptcha | null {
  const field = root.querySelector<HTMLElement>('.waitlist-captcha');
  const input = root.querySelector<HTMLInputElement>('input[name=captcha_token]');
  const fault = root.querySelector<HTMLElement>('.waitlist-captcha-away');
  if (!field || !input || !fault) return null;
  const container = host ? host.appendChild(slotted()) : field;
  let drawn: { readonly api: Api; readonly id: string } | null = null;
  let isRemoved = false;
  const update = (token: string, isUnavailable = false) => {
    input.value = token;
    fault.hidden = !isUnavailable;
  };
  const draw = (api: Api) => {
    if (isRemoved) return;
    drawn = { api, id: api.render(container, optionsOf(field, update)) };
  };
  // Browsers restore field values on Back, and the widget reuses the elements of its last form.
  field.hidden = false;
  update('');
  load(field.dataset.provider as Provider)
    .then(draw)
    .catch(() => {
      field.hidden = true;
      update('', true);
    });
  return {
    renew() {
      update('');
      drawn?.api.reset(drawn.id);
    },
    remove() {
      isRemoved = true;
      drawn?.api.remove(drawn.id);
      if (host) container.remove();
    },
  };
}

function optionsOf(field: HTMLElement, update: (token: string, isUnavailable?: boolean) => void): object {
  const language = field.closest<HTMLElement>('[lang]')?.lang;
  return {
    sitekey: field.dataset.sitekey,
    theme: isDark(field) ? 'dark' : 'light',
    size: field.clientWidth < WIDTH_MIN ? 'compact' : 'normal',
    // Turnstile takes the language under the first name, hCaptcha under the second.
    language,
    hl: language,
    'response-field': false,
    callback: (token: string) => update(token),
    'expired-callback': () => update(''),
    'error-callback': () => {
      update('', true);
      // Without it, Turnstile treats the error as unhandled.
      return true;
    },
  };
}

function slotted(): HTMLElement {
  const element = document.createElement('div');
  element.slot = 'captcha';
  return element;
}

const loading = new Map<Provider, Promise<Api>>();

/** The page around a widget may have loaded the script already. */
function load(provider: Provider): Promise<Api> {
  const api = globals[provider];
  if (api) return Promise.resolve(api);
  const started = loading.get(provider) ?? loadScript(provider);
  loading.set(provider, started);
  return started;
}

function loadScript(provider: Provider): Promise<Api> {
  return new Promise((resolve, reject) => {
    const script = document.createElement('script');
    globals[`waitlist_${provider}`] = () => resolve(globals[provider] as Api);
    script.onerror = () => {
      loading.delete(provider);
      reject(new Error(`${script.src} cannot be loaded`));
    };
    script.src = `${CAPTCHA_PROVIDERS[provider].script}&onload=waitlist_${provider}`;
    document.head.append(script);
  });
}

/** Whether the text is light there, and so the background dark. Covers every way to choose a color scheme. */
function isDark(field: HTMLElement): boolean {
  const [red = '0'] = getComputedStyle(field).color.match(/\d+/) ?? [];
  return Number(red) > 127;
}
