import { Inject, Injectable } from '@nestjs/common';
import { Counter } from 'prom-client';
import { type Config, CONFIG } from '../platform/config/config.js';
import { boundedQueue } from '../platform/limits/bounded-queue.js';
import { Metrics } from '../platform/telemetry/metrics.js';
import type { Captcha } from '../queue/settings/waitlist.entity.js';
import { type CaptchaAccess, WaitlistService } from '../waitlist/waitlist.service.js';

/** Longest wait for a provider, which usually answers within a second. */
const CAPTCHA_MS = 5_000;
/** Checks at once, and signups that may wait for one. */
const CHECKS = { runsMax: 500, waitingMax: 1_000 };

/** The field of the contract, and the fields of the providers' widgets. */
const FIELDS = ['captcha_token', 'cf-turnstile-response', 'h-captcha-response'] as const;

/** The token in a body. Widgets leave their field empty until the captcha is solved. */
export function captchaTokenOf(body: Readonly<Partial<Record<(typeof FIELDS)[number], unknown>>>): string | null {
  const tokens = FIELDS.map((field) => body[field]).filter((value) => typeof value === 'string');
  return tokens.find((token) => token.trim() !== '') ?? null;
}

/** How long a signup may wait for the provider before its work begins. */
export function captchaWaitMs(body: unknown): number {
  return typeof body === 'object' && body !== null && captchaTokenOf(body) !== null ? CAPTCHA_MS : 0;
}

const VERIFY_URLS: Readonly<Record<Captcha['provider'], string>> = {
  turnstile: 'https://challenges.cloudflare.com/turnstile/v0/siteverify',
  hcaptcha: 'https://api.hcaptcha.com/siteverify',
};
/**
 * Error codes for a fault of the provider or the owner's secret. All other codes, unknown ones too, count as a refused
 * token, so that no token makes the provider look unavailable.
 */
const PROVIDER_FAULTS: ReadonlySet<unknown> = new Set([
  'internal-error',
  'missing-input-secret',
  'invalid-input-secret',
]);

const OUTCOMES = ['passed', 'refused', 'unavailable'] as const;
type Outcome = (typeof OUTCOMES)[number];

/** How a captcha token counts. `unjudged`: the provider gave no verdict, and the owner withholds credit then. */
type CaptchaResult = 'passed' | 'unjudged' | 'refused';

/** The answer of a provider; both speak the same protocol. */
interface ProviderAnswer {
  readonly success: boolean;
  readonly 'error-codes'?: readonly unknown[];
}

const REFUSAL: ProviderAnswer = { success: false };

/** Asks the providers of captchas whether a token is valid. The provider learns nothing else about the person. */
@Injectable()
export class CaptchaService {
  private readonly verifyUrl: string | undefined;
  private readonly checks: Counter<'outcome'>;
  private readonly enqueue = boundedQueue('verify captcha', CHECKS);

  constructor(
    private readonly waitlists: WaitlistService,
    @Inject(CONFIG) { captchaVerifyUrl }: Config,
    { registry }: Metrics,
  ) {
    this.verifyUrl = captchaVerifyUrl;
    this.checks = new Counter({
      name: 'waitlist_captcha_checks_total',
      help: 'Captcha tokens by outcome: `passed`, `refused`, `unavailable` (no verdict of the provider in time, or the secret is wrong).',
      labelNames: ['outcome'],
      registers: [registry],
    });
    for (const outcome of OUTCOMES) this.checks.inc({ outcome }, 0);
  }

  /**
   * Asks the provider about a token, which it accepts once. With `when_unavailable: accept`, a token without a verdict
   * passes. Null for a waitlist without a captcha.
   * @throws Problem `QUEUE_FULL`
   */
  async check(waitlistId: number, token: string): Promise<CaptchaResult | null> {
    const captcha = await this.waitlists.findCaptcha(waitlistId);
    if (!captcha) return null;
    const outcome = await this.enqueue(() => this.ask(captcha, token));
    this.checks.inc({ outcome });
    if (outcome !== 'unavailable') return outcome;
    return captcha.when_unavailable === 'withhold' ? 'unjudged' : 'passed';
  }

  private async ask({ provider, site_key: sitekey, secret }: CaptchaAccess, token: string): Promise<Outcome> {
    if (secret === null) return 'unavailable';
    // Turnstile has one secret for each site key, hCaptcha one for all.
    const fields = { secret, response: token, ...(provider === 'hcaptcha' && { sitekey }) };
    const answer = await post(this.verifyUrl ?? VERIFY_URLS[provider], new URLSearchParams(fields));
    if (answer?.success) return 'passed';
    const isTokenFault = answer && !answer['error-codes']?.some((code) => PROVIDER_FAULTS.has(code));
    return isTokenFault ? 'refused' : 'unavailable';
  }
}

/** Null if the provider gives no verdict in time. */
async function post(url: string, body: URLSearchParams): Promise<ProviderAnswer | null> {
  try {
    const signal = AbortSignal.timeout(CAPTCHA_MS);
    const response = await fetch(url, { method: 'POST', body, redirect: 'error', signal });
    if (response.status >= 500 || response.status === 429) return null;
    const answer = (await response.json().catch(() => null)) as ProviderAnswer | null;
    if (typeof answer?.success === 'boolean' && Array.isArray(answer['error-codes'] ?? [])) return answer;
    // Any other 4xx refuses the token, so that no token makes the provider look unavailable.
    return response.ok ? null : REFUSAL;
  } catch {
    // Connection, TLS, redirect or deadline: the token was not judged.
    return null;
  }
}
