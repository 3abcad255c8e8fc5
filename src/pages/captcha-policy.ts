import { type Captcha, CAPTCHA_PROVIDERS } from '../../web/page/captcha-providers.js';
import type { PagePolicy } from '../platform/http/headers.js';

/** The policy of a page that shows the captcha of a provider. */
export function withCaptcha(policy: PagePolicy, provider: Captcha['provider']): PagePolicy {
  const added = Object.entries(CAPTCHA_PROVIDERS[provider].policy);
  return {
    ...policy,
    ...Object.fromEntries(added.map(([name, origins]) => [name, [...(policy[name] ?? []), ...origins]])),
  };
}
