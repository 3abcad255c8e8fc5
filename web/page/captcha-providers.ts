/** A captcha as pages show it: a setting of the waitlist. */
export interface Captcha {
  readonly provider: 'turnstile' | 'hcaptcha';
  readonly site_key: string;
}

interface Provider {
  /** Takes the name of a function in its parameter `onload`, and calls it once it is ready. */
  readonly script: string;
  /** What its documentation asks a Content-Security-Policy to allow, by directive. */
  readonly policy: Readonly<Record<string, readonly string[]>>;
}

const TURNSTILE = ['https://challenges.cloudflare.com'];
const HCAPTCHA = ['https://hcaptcha.com', 'https://*.hcaptcha.com'];

/** Each key is also the name of the global object that its script defines. */
export const CAPTCHA_PROVIDERS: Readonly<Record<Captcha['provider'], Provider>> = {
  turnstile: {
    script: 'https://challenges.cloudflare.com/turnstile/v0/api.js?render=explicit',
    policy: { 'script-src': TURNSTILE, 'frame-src': TURNSTILE },
  },
  hcaptcha: {
    script: 'https://js.hcaptcha.com/1/api.js?render=explicit&recaptchacompat=off',
    policy: { 'script-src': HCAPTCHA, 'frame-src': HCAPTCHA, 'style-src': HCAPTCHA, 'connect-src': HCAPTCHA },
  },
};
