import { ApiProperty } from '@nestjs/swagger';
import { HttpUrl, Nested, OneOf, WholeNumber } from '../platform/contract/fields.js';
import { openEnum } from '../platform/contract/formats.js';
import { KnownFieldsOnly } from '../platform/contract/request.js';
import { type OfferRules, offerRules, ON_EXPIRY } from '../queue/settings/offer-rules.js';
import type { GivenSettings, Waitlist } from './waitlist.service.js';

const DEFAULTS = offerRules({ offers: null });
/** How long an offer can hold: 30 days. */
export const HOURS = { minimum: 1, maximum: 720, nullable: true } as const;
const RULE_HOURS = {
  ...HOURS,
  description:
    'How many hours an offer holds, unless the request that makes it says otherwise. Null: it never expires.',
} as const;
const EXPIRY = {
  description:
    'What happens when an offer expires: `out` offboards the person; `end` puts the person at the end of the queue, with the spots earned so far. The third expired offer of a person is always `out`. The setting at the time of expiry applies.',
} as const;
const OFFER_URL = {
  maxLength: 2048,
  nullable: true,
  description:
    'The address to which the page of an offer leads after Accept, with `offer=<code>` as the last parameter. Null: `your_turn_url`, or without one the private page.',
  example: 'https://app.example.com/welcome',
} as const;
const OFFERS = {
  description:
    'The rules of offers. In a new waitlist, omitted fields get their defaults; in a change, they keep their value.',
} as const;

@KnownFieldsOnly()
export class OfferRulesDto {
  @WholeNumber({ ...RULE_HOURS, default: DEFAULTS.hours })
  hours?: number | null;

  @OneOf({ ...EXPIRY, enum: ON_EXPIRY, enumName: 'OnExpiry', default: DEFAULTS.on_expiry })
  on_expiry?: OfferRules['on_expiry'];

  @HttpUrl({ ...OFFER_URL, minLength: 1, optional: true })
  url?: string | null;
}

/** The rules of a waitlist's offers. */
export class ConfiguredOfferRulesDto implements OfferRules {
  @ApiProperty({ ...RULE_HOURS, type: 'integer', format: 'int32', example: 48 })
  hours!: number | null;

  @ApiProperty({ ...openEnum(ON_EXPIRY), ...EXPIRY, example: 'out' })
  on_expiry!: OfferRules['on_expiry'];

  @ApiProperty({ ...OFFER_URL, type: String, format: 'uri' })
  url!: string | null;
}

/** The settings of a request about offers. */
export class OfferSettingsDto {
  @Nested(OfferRulesDto, { ...OFFERS, optional: true })
  offers?: OfferRulesDto;

  static toOffers({ offers }: OfferSettingsDto) {
    return { offers } satisfies GivenSettings;
  }
}

/** The fields of a waitlist about offers. */
export class OfferSettingsViewDto {
  @ApiProperty({ ...OFFERS, type: ConfiguredOfferRulesDto })
  offers!: ConfiguredOfferRulesDto;

  static of(waitlist: Pick<Waitlist, 'offers'>): OfferSettingsViewDto {
    const { hours, on_expiry, url } = offerRules(waitlist);
    return { offers: { hours, on_expiry, url } };
  }
}
