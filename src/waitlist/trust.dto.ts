import { ApiProperty } from '@nestjs/swagger';
import { FRAUD_DEFAULTS, type FraudRules } from '../fraud/fraud-rules.js';
import { Flag, Nested, OneOf, Text, WholeNumber } from '../platform/contract/fields.js';
import { openEnum } from '../platform/contract/formats.js';
import { KnownFieldsOnly } from '../platform/contract/request.js';
import {
  type Captcha,
  CAPTCHA_PROVIDERS,
  type Verification,
  VERIFICATIONS,
  WHEN_UNAVAILABLE,
} from '../queue/settings/waitlist.entity.js';
import { DEFAULTS, type GivenSettings, type Waitlist } from './waitlist.service.js';

const HOUR_REFERRALS = { minimum: 1, maximum: 10_000, nullable: true } as const;
const RULE_OFF = 'Null turns the rule off.';
const DISPOSABLE = {
  nullable: true,
  description: `Whether a referral of somebody with a throwaway mailbox waits for approval. ${RULE_OFF}`,
} as const;
const SAME_MAILBOX = {
  nullable: true,
  description: `Whether a referral waits for approval if a record of the waitlist has the same mailbox, as its provider folds addresses: \`a.da+1@gmail.com\` is \`ada@gmail.com\`. ${RULE_OFF}`,
} as const;
const PER_HOUR = {
  ...HOUR_REFERRALS,
  description: `Referrals of one referrer within an hour, withheld ones included, after which further ones wait for approval. ${RULE_OFF}`,
} as const;
const PER_NETWORK = {
  ...HOUR_REFERRALS,
  description: `The same from one network: an IPv4 /24 or an IPv6 /48. Networks of \`RATE_LIMIT_EXEMPT\` do not count. ${RULE_OFF}`,
} as const;
const MINIMUM_SECONDS = {
  minimum: 1,
  maximum: 3_600,
  nullable: true,
  description: `Seconds from \`form_opened_at\` to the signup; a referral that comes sooner waits for approval. ${RULE_OFF}`,
} as const;

@KnownFieldsOnly()
export class FraudRulesDto {
  @Flag({ ...DISPOSABLE, default: FRAUD_DEFAULTS.disposable_domains })
  disposable_domains?: boolean | null;

  @Flag({ ...SAME_MAILBOX, default: FRAUD_DEFAULTS.same_mailbox })
  same_mailbox?: boolean | null;

  @WholeNumber({ ...PER_HOUR, default: FRAUD_DEFAULTS.referrals_per_hour })
  referrals_per_hour?: number | null;

  @WholeNumber({ ...PER_NETWORK, default: FRAUD_DEFAULTS.referrals_per_network_per_hour })
  referrals_per_network_per_hour?: number | null;

  @WholeNumber({ ...MINIMUM_SECONDS, default: FRAUD_DEFAULTS.minimum_seconds })
  minimum_seconds?: number | null;
}

/** The rules of a waitlist. */
export class ConfiguredFraudRulesDto implements FraudRules {
  @ApiProperty({ ...DISPOSABLE, type: Boolean, example: true })
  disposable_domains!: boolean | null;

  @ApiProperty({ ...SAME_MAILBOX, type: Boolean, example: true })
  same_mailbox!: boolean | null;

  @ApiProperty({ ...PER_HOUR, type: 'integer', format: 'int32', example: 60 })
  referrals_per_hour!: number | null;

  @ApiProperty({ ...PER_NETWORK, type: 'integer', format: 'int32', example: 20 })
  referrals_per_network_per_hour!: number | null;

  @ApiProperty({ ...MINIMUM_SECONDS, type: 'integer', format: 'int32', example: 2 })
  minimum_seconds!: number | null;
}

const PROVIDER_TEXT = { description: 'Cloudflare Turnstile or hCaptcha.' } as const;
/** It stands in the HTML of pages. */
const SITE_KEY = { minLength: 1, maxLength: 200, pattern: '^[\\w-]+$', description: 'Public: pages show it.' } as const;
const UNAVAILABLE_TEXT = {
  description:
    'What happens to a signup with a token if the provider does not answer in time: its referral waits for approval (`withhold`), or the token counts as valid (`accept`).',
} as const;

@KnownFieldsOnly()
export class CaptchaDto {
  @OneOf({ enum: CAPTCHA_PROVIDERS, enumName: 'CaptchaProvider', ...PROVIDER_TEXT })
  provider!: Captcha['provider'];

  @Text({ ...SITE_KEY, example: '1x00000000000000000000AA' })
  site_key!: string;

  @Text({
    minLength: 1,
    maxLength: 500,
    optional: true,
    description:
      'The secret of the provider. It is never given back. If omitted, the stored one stays, provided that `provider` and `site_key` do.',
  })
  secret?: string;

  @OneOf({ ...UNAVAILABLE_TEXT, enum: WHEN_UNAVAILABLE, enumName: 'WhenUnavailable', default: WHEN_UNAVAILABLE[0] })
  when_unavailable?: Captcha['when_unavailable'];

  static toCaptcha({ provider, site_key, when_unavailable = WHEN_UNAVAILABLE[0] }: CaptchaDto): Captcha {
    return { provider, site_key, when_unavailable };
  }
}

/** The captcha of a waitlist, without its secret. */
export class ConfiguredCaptchaDto {
  @ApiProperty({ ...openEnum(CAPTCHA_PROVIDERS), ...PROVIDER_TEXT, example: 'turnstile' })
  provider!: Captcha['provider'];

  @ApiProperty({ ...SITE_KEY, example: '1x00000000000000000000AA' })
  site_key!: string;

  @ApiProperty({
    ...openEnum(WHEN_UNAVAILABLE),
    description: `${UNAVAILABLE_TEXT.description} For the owner only.`,
    required: false,
  })
  when_unavailable?: Captcha['when_unavailable'];
}

const VERIFICATION_TEXT = {
  description:
    'Whether people verify their email by a link in a mail: `off`; `optional`, a referral is credited once the referred person is verified; `required`, the person also joins the queue only then. It needs a service that sends mail (`SMTP_URL`), and `required` needs `required_contact.email: required`. A change applies to later signups.',
} as const;
const FRAUD_TEXT = {
  description:
    'Rules against false referrals. Whoever breaks one joins as anyone does, but the referral is credited only once the owner approves it. In a new waitlist, omitted fields get their defaults; in a change, they keep their value.',
} as const;
const CAPTCHA_TEXT = {
  nullable: true,
  description:
    'The captcha that a signup needs: without a valid token in `captcha_token` it is refused with 422. Null for none.',
} as const;
/** The settings of a request about which signups and referrals can be trusted. */
export class TrustSettingsDto {
  @OneOf({ ...VERIFICATION_TEXT, enum: VERIFICATIONS, enumName: 'Verification', default: DEFAULTS.verification })
  verification?: Verification;

  @Nested(FraudRulesDto, { ...FRAUD_TEXT, optional: true })
  fraud?: FraudRulesDto;

  @Nested(CaptchaDto, { ...CAPTCHA_TEXT, optional: true })
  captcha?: CaptchaDto | null;

  static toTrust(body: TrustSettingsDto) {
    return {
      verification: body.verification,
      fraud: body.fraud,
      captcha: body.captcha && CaptchaDto.toCaptcha(body.captcha),
      captchaSecret: body.captcha?.secret,
    } satisfies GivenSettings;
  }
}

/** The fields of a waitlist about which signups and referrals can be trusted. */
export class TrustDto {
  @ApiProperty({ ...openEnum(VERIFICATIONS), ...VERIFICATION_TEXT, example: 'off' })
  verification!: Verification;

  @ApiProperty({ ...FRAUD_TEXT, type: ConfiguredFraudRulesDto })
  fraud!: ConfiguredFraudRulesDto;

  @ApiProperty({ ...CAPTCHA_TEXT, type: ConfiguredCaptchaDto })
  captcha!: ConfiguredCaptchaDto | null;

  static of({ verification, fraud, captcha }: Waitlist): TrustDto {
    return {
      verification,
      fraud: {
        disposable_domains: fraud.disposable_domains,
        same_mailbox: fraud.same_mailbox,
        referrals_per_hour: fraud.referrals_per_hour,
        referrals_per_network_per_hour: fraud.referrals_per_network_per_hour,
        minimum_seconds: fraud.minimum_seconds,
      },
      captcha: captcha && { ...publicCaptcha(captcha), when_unavailable: captcha.when_unavailable },
    };
  }
}

/** What pages need to show the captcha. */
export function publicCaptcha({ provider, site_key }: Captcha): ConfiguredCaptchaDto {
  return { provider, site_key };
}
