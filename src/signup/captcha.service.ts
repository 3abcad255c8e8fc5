import { Inject, Injectable } from '@nestjs/common';
import { Counter } from 'prom-client';
import { type Config, CONFIG } from '../platform/config/config.js';
import { boundedQueue } from '../platform/limits/bounded-queue.js';
import { Metrics } from '../platform/telemetry/metrics.js';
import type { Captcha } from '../queue/waitlist.entity.js';
import { type CaptchaAccess, WaitlistService } from '../waitlist/waitlist.service.js';

/** A provider answers within a second. A person waits this long at most. */
const CAPTCHA_MS = 5_000;
/** Connections to a provider that hangs, and the signups that wait for one. */
const CHECKS = { runsMax: 500, waitingMax: 1_000 };

/** Ours, and those that the widgets of the providers give their fields. */
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
 * Faults of the provider or of the owner's secret: they tell nothing about the token. All other codes count as a bad token,
 * so that no token makes the provider look unavailable.
 */
const NOT_OF_THE_TOKEN: ReadonlySet<unknown> = new Set([
  'internal-error',
  'missing-input-secret',
  'invalid-input-secret',
]);

const OUTCOMES = ['passed', 'refused', 'unavailable'] as const;
type Outcome = (typeof OUTCOMES)[number];

/** The answer of a provider; both speak the same protocol. */
interface Verdict {
  readonly success: boolean;
  readonly 'error-codes'?: readonly unknown[];
}

const REFUSAL: Verdict = { success: false };

/** Asks the providers of captchas whether a token is valid. They are told nothing else of the person. */
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
   * What the captcha of a waitlist says of a token, which its provider accepts once: `missed` if nobody judged it and the
   * owner withholds credit then, null if it is refused. Null too for a waitlist without a captcha.
   * @throws Problem `QUEUE_FULL`
   */
  async check(waitlistId: number, token: string): Promise<'passed' | 'missed' | null> {
    const captcha = await this.waitlists.findCaptcha(waitlistId);
    if (!captcha) return null;
    const outcome = await this.enqueue(() => this.ask(captcha, token));
    this.checks.inc({ outcome });
    if (outcome === 'refused') return null;
    return outcome === 'unavailable' && captcha.when_unavailable === 'withhold' ? 'missed' : 'passed';
  }

  private async ask({ provider, site_key: sitekey, secret }: CaptchaAccess, token: string): Promise<Outcome> {
    if (secret === null) return 'unavailable';
    // Turnstile has one secret for each site key, hCaptcha one for all.
    const fields = { secret, response: token, ...(provider === 'hcaptcha' && { sitekey }) };
    const verdict = await post(this.verifyUrl ?? VERIFY_URLS[provider], new URLSearchParams(fields));
    if (verdict?.success) return 'passed';
    const isOfToken = verdict && !verdict['error-codes']?.some((code) => NOT_OF_THE_TOKEN.has(code));
    return isOfToken ? 'refused' : 'unavailable';
  }
}

/** Null if the provider gives no verdict in time. */
async function post(url: string, body: URLSearchParams): Promise<Verdict | null> {
  try {
    const signal = AbortSignal.timeout(CAPTCHA_MS);
    const response = await fetch(url, { method: 'POST', body, redirect: 'error', signal });
    if (response.status >= 500 || response.status === 429) return null;
    const verdict = (await response.json().catch(() => null)) as Verdict | null;
    if (typeof verdict?.success === 'boolean' && Array.isArray(verdict['error-codes'] ?? [])) return verdict;
    // Any other 4xx refuses the token, so that no token makes the provider look unavailable.
    return response.ok ? null : REFUSAL;
  } catch {
    // Connection, TLS, redirect or deadline: the token was not judged.
    return null;
  }
}
