import { ApiProperty, ApiPropertyOptional, IntersectionType, OmitType, PartialType, PickType } from '@nestjs/swagger';
import { isSupportedCountry } from 'libphonenumber-js';
import {
  broken,
  Flag,
  Holds,
  HttpUrl,
  Id,
  Nested,
  NestedList,
  OneOf,
  Text,
  WholeNumber,
} from '../platform/contract/fields.js';
import { KnownFieldsOnly } from '../platform/contract/request.js';
import { COUNT_SCHEMA, ID_SCHEMA, openEnum, timestamp, TIMESTAMP_SCHEMA } from '../platform/contract/formats.js';
import type { PageAfter } from '../platform/page.js';
import { LIVE_QUESTIONS_BYTES_MAX, LIVE_QUESTIONS_MAX } from '../queue/settings/questions.js';
import { type Waiting, WAITING_COUNTED_MAX } from '../queue/read/queue.statistics.js';
import { NO_MAILS } from '../queue/settings/mail-words.js';
import { signupPage } from '../queue/record/referral-link.js';
import { UNREACHABLE } from '../queue/settings/settings.js';
import { REQUIREMENTS, type Requirement } from '../queue/settings/waitlist.entity.js';
import { DERIVED_DISPLAY, DisplayDto, DisplaySettingsDto, FRAME_ORIGINS, wholeDisplay } from './display.dto.js';
import { ConfiguredQuestionDto, QuestionDto, questionFaults, QUESTIONS } from './question.dto.js';
import { publicCaptcha, TrustDto, TrustSettingsDto } from './trust.dto.js';
import { PUBLIC_KEY_SCHEMA, SLUG_SCHEMA } from './waitlist-keys.js';
import { MailSettingsDto, MailSettingsViewDto } from './mails.dto.js';
import { OfferSettingsDto, OfferSettingsViewDto } from './offers.dto.js';
import { ReleaseSettingsDto, ReleaseSettingsViewDto } from './release-plan.dto.js';
import { DEFAULTS, type GivenSettings, type Names, type Waitlist, type WordedWaitlist } from './waitlist.service.js';

const PAGE_SIZE_MAX = 100;
const NAME = { maxLength: 200, description: 'Display name.', example: 'My waitlist' } as const;
const URL_LOCATION = { maxLength: 2048, example: 'https://example.com/join' } as const;
const SLUG = {
  ...SLUG_SCHEMA,
  nullable: true,
  description:
    'The name of the page in its address, `/waitlist/{slug}`: lowercase letters, digits and hyphens, with at least one letter. The addresses with the id and with earlier slugs redirect there.',
  example: 'lumen',
} as const;
export const SPOTS = { minimum: 0, maximum: 10_000 } as const;
const REGION = {
  maxLength: 2,
  nullable: true,
  description: 'Country of phone numbers without a country code (ISO 3166-1 alpha-2).',
  example: 'US',
} as const;
const REQUIREMENT = { enum: REQUIREMENTS, enumName: 'Requirement' } as const;
/** The fields of a response that cannot be set. */
const SENT_BACK = ['api_key', 'created_at', 'statistics', 'records_moved', 'now', ...DERIVED_DISPLAY] as const;
/** The greatest id of the hosted product. */
const BROUGHT_ID_MAX = 2_147_483_647;
const IS_CLOSED = {
  description: 'Whether new signups are refused with 422 `WAITLIST_CLOSED`. Existing records are found as before.',
} as const;
const IS_PUBLIC = {
  description:
    'Whether Get a waitlist works without a token. If false, a request without one gets 404; signups and lookups still work.',
} as const;
const HIDE_COUNTS = { description: 'Whether the public view hides its `statistics`.' } as const;
const STATISTICS = { description: 'The number of records on the waitlist.' } as const;
const STATISTIC = {
  current_signups: { ...COUNT_SCHEMA, description: 'Number of active records.', example: 40 },
  offered_signups: { ...COUNT_SCHEMA, description: 'Number of records with an open offer.', example: 1 },
  offboarded_signups: { ...COUNT_SCHEMA, description: 'Number of offboarded records.', example: 2 },
  total_signups: {
    ...COUNT_SCHEMA,
    description: 'Number of all records, active, offered and offboarded.',
    example: 43,
  },
  referred_signups: { ...COUNT_SCHEMA, description: 'Number of records that another record referred.', example: 12 },
  pending_signups: {
    ...COUNT_SCHEMA,
    maximum: WAITING_COUNTED_MAX,
    description: `Number of people who have not verified their email and so are not on the waitlist yet, counted up to ${WAITING_COUNTED_MAX}. Not in lists of waitlists.`,
    example: 3,
  },
  withheld_signups: {
    ...COUNT_SCHEMA,
    maximum: WAITING_COUNTED_MAX,
    description: `Number of people of any status whose referral waits for your decision, counted up to ${WAITING_COUNTED_MAX}. Not in lists of waitlists.`,
    example: 1,
  },
} as const;

@KnownFieldsOnly()
export class RequiredContactDto {
  @OneOf({ ...REQUIREMENT, default: DEFAULTS.requiredContact.email })
  email?: Requirement;

  @OneOf({ ...REQUIREMENT, default: DEFAULTS.requiredContact.phone })
  phone?: Requirement;

  @OneOf({ ...REQUIREMENT, default: DEFAULTS.requiredContact.first_name })
  first_name?: Requirement;

  @OneOf({ ...REQUIREMENT, default: DEFAULTS.requiredContact.last_name })
  last_name?: Requirement;
}

/* Rules of a field that depend on several values within it, or on a list of countries. */

function reachableFault({ email, phone }: RequiredContactDto) {
  return email === 'off' && phone === 'off' ? { ...UNREACHABLE, field: '' } : null;
}

function regionFault(region: string) {
  return isSupportedCountry(region) ? null : broken('known', 'must be a country that has phone numbers, such as US');
}

/** The contact data that the waitlist asks for. */
export class ConfiguredContactDto {
  @ApiProperty({ ...openEnum(REQUIREMENTS), example: 'required' })
  email!: Requirement;

  @ApiProperty({ ...openEnum(REQUIREMENTS), example: 'optional' })
  phone!: Requirement;

  @ApiProperty({ ...openEnum(REQUIREMENTS), example: 'optional' })
  first_name!: Requirement;

  @ApiProperty({ ...openEnum(REQUIREMENTS), example: 'optional' })
  last_name!: Requirement;
}

/** The settings of a request that the service itself reads. */
class SettingsDto {
  @WholeNumber({
    format: 'int64',
    minimum: 1,
    maximum: BROUGHT_ID_MAX,
    optional: true,
    description:
      'The id that the waitlist had in the hosted product, so that pages in use keep working. Generated if omitted.',
  })
  id?: number;

  @Text({
    ...PUBLIC_KEY_SCHEMA,
    example: undefined,
    optional: true,
    description: 'The public key that the waitlist had in the hosted product. Generated if omitted.',
  })
  public_key?: string;

  @Text({ ...NAME, minLength: 1 })
  waitlist_name!: string;

  @HttpUrl({
    ...URL_LOCATION,
    minLength: 1,
    optional: true,
    nullable: true,
    description:
      'URL of the signup page. Referral links lead there. Null, or none in a new waitlist, stands for the page `/waitlist/{slug}`, or `/waitlist/{id}`, of this service.',
  })
  waitlist_url_location?: string | null;

  @Text({ ...SLUG, optional: true })
  slug?: string | null;

  @WholeNumber({
    ...SPOTS,
    default: DEFAULTS.spotsPerReferral,
    description:
      'Positions that a record moves up for each referral. A change reorders the queue at once and applies to past referrals too.',
  })
  spots_to_move_upon_referral?: number;

  @Holds('reachable', reachableFault)
  @Nested(RequiredContactDto, {
    optional: true,
    description:
      'The contact data that a signup asks for. In a new waitlist, omitted fields get their defaults; in a change, they keep their value. Email and phone must not both be off.',
  })
  required_contact?: RequiredContactDto;

  @Holds('region', regionFault)
  @Text({ ...REGION, optional: true, format: 'country-code', pattern: '^[A-Z]{2}$' })
  default_region?: string | null;

  @Holds('questions', questionFaults)
  @NestedList(QuestionDto, {
    ...QUESTIONS,
    optional: true,
    description: `The questions that a signup answers: at most ${LIVE_QUESTIONS_MAX}, with different texts, of at most ${LIVE_QUESTIONS_BYTES_MAX} bytes as compact JSON. Removed questions that are sent back do not count.`,
  })
  questions?: QuestionDto[];

  @Flag({ ...IS_CLOSED, default: DEFAULTS.isClosed })
  is_closed?: boolean;

  @Flag({ ...IS_PUBLIC, default: DEFAULTS.isPublic })
  is_public?: boolean;

  @Flag({ ...HIDE_COUNTS, default: DEFAULTS.hidesCounts })
  hide_counts?: boolean;
}

@KnownFieldsOnly(...SENT_BACK)
export class CreateWaitlistDto extends IntersectionType(
  SettingsDto,
  TrustSettingsDto,
  MailSettingsDto,
  OfferSettingsDto,
  DisplaySettingsDto,
  ReleaseSettingsDto,
) {
  static toNames({ id, public_key: publicKey }: CreateWaitlistDto): Names {
    return { id, publicKey };
  }

  static toSettings<Body extends Omit<Partial<CreateWaitlistDto>, 'id' | 'public_key'>>(body: Body) {
    return {
      name: body.waitlist_name as Body['waitlist_name'],
      slug: body.slug,
      urlLocation: body.waitlist_url_location,
      spotsPerReferral: body.spots_to_move_upon_referral,
      requiredContact: body.required_contact,
      defaultRegion: body.default_region,
      questions: body.questions?.map((question) => QuestionDto.toQuestion(question)),
      isClosed: body.is_closed,
      isPublic: body.is_public,
      hidesCounts: body.hide_counts,
      display: DisplaySettingsDto.toDisplay(body),
      ...TrustSettingsDto.toTrust(body),
      ...MailSettingsDto.toMails(body),
      ...OfferSettingsDto.toOffers(body),
      ...ReleaseSettingsDto.toRelease(body),
    } satisfies GivenSettings;
  }
}

/** An omitted field is unchanged. A null is refused as in {@link CreateWaitlistDto}. */
@KnownFieldsOnly('id', 'public_key', ...SENT_BACK)
export class UpdateWaitlistDto extends PartialType(OmitType(CreateWaitlistDto, ['id', 'public_key']), {
  skipNullProperties: false,
}) {}

export class ListWaitlistsDto {
  @WholeNumber({ default: PAGE_SIZE_MAX, minimum: 1, maximum: PAGE_SIZE_MAX, lenient: true, description: 'Page size.' })
  limit = PAGE_SIZE_MAX;

  @Id({ optional: true, lenient: true, description: 'Lists the waitlists after this id.' })
  after_id?: number;

  static toPage({ limit, after_id }: ListWaitlistsDto): PageAfter<number> {
    return { limit, afterId: after_id ?? null };
  }
}

export class StatisticsDto {
  @ApiProperty(STATISTIC.current_signups)
  current_signups!: number;

  @ApiProperty(STATISTIC.offered_signups)
  offered_signups!: number;

  @ApiProperty(STATISTIC.offboarded_signups)
  offboarded_signups!: number;

  @ApiProperty(STATISTIC.total_signups)
  total_signups!: number;

  @ApiProperty(STATISTIC.referred_signups)
  referred_signups!: number;

  @ApiPropertyOptional(STATISTIC.pending_signups)
  pending_signups?: number;

  @ApiPropertyOptional(STATISTIC.withheld_signups)
  withheld_signups?: number;
}

/** The fields of a waitlist that the service itself reads or writes. */
class WaitlistFieldsDto {
  @ApiProperty({ ...ID_SCHEMA, description: 'Identifies the waitlist.', example: 1 })
  id!: number;

  @ApiProperty({
    ...PUBLIC_KEY_SCHEMA,
    description:
      'Names the waitlist in pages, in place of the id. It may be shown to anyone: no account operation accepts it.',
  })
  public_key!: string;

  @ApiProperty(NAME)
  waitlist_name!: string;

  @ApiProperty({
    ...URL_LOCATION,
    format: 'uri',
    description: "URL of the signup page: the owner's, or that of this service.",
  })
  waitlist_url_location!: string;

  @ApiProperty({ ...SLUG, type: String })
  slug!: string | null;

  @ApiProperty({ description: 'The contact data that a signup asks for.', type: ConfiguredContactDto })
  required_contact!: ConfiguredContactDto;

  @ApiProperty({
    ...QUESTIONS,
    type: [ConfiguredQuestionDto],
    description: 'The questions that a signup answers, in order. To the owner, the removed ones follow.',
  })
  questions!: ConfiguredQuestionDto[];

  @ApiProperty({ ...IS_CLOSED, example: false })
  is_closed!: boolean;

  @ApiProperty({ ...IS_PUBLIC, example: true })
  is_public!: boolean;

  @ApiProperty({ ...HIDE_COUNTS, example: false })
  hide_counts!: boolean;

  @ApiProperty({ ...STATISTICS, type: StatisticsDto })
  statistics!: StatisticsDto;

  @ApiProperty({
    ...SPOTS,
    type: 'integer',
    format: 'int32',
    description: 'Positions that a record moves up for each referral.',
    example: 3,
  })
  spots_to_move_upon_referral!: number;

  @ApiProperty({ ...REGION, type: String })
  default_region!: string | null;

  @ApiProperty({ ...FRAME_ORIGINS, type: 'array', items: { ...FRAME_ORIGINS.items, type: 'string' } })
  frame_origins!: readonly string[];

  @ApiProperty(TIMESTAMP_SCHEMA)
  created_at!: string;
}

/** A waitlist as its owner sees it. */
export class WaitlistDto extends IntersectionType(
  WaitlistFieldsDto,
  TrustDto,
  MailSettingsViewDto,
  OfferSettingsViewDto,
  DisplayDto,
  ReleaseSettingsViewDto,
) {
  /** A list has no `waiting`, because counting it takes some milliseconds for each waitlist. */
  static from(waitlist: WordedWaitlist, waiting?: Waiting): WaitlistDto {
    const { active, offered, offboarded } = waitlist;
    return {
      id: waitlist.id,
      public_key: waitlist.publicKey,
      waitlist_name: waitlist.name,
      slug: waitlist.slug,
      waitlist_url_location: signupPage(waitlist),
      required_contact: waitlist.requiredContact,
      questions: [
        ...waitlist.questions.map((question) => ConfiguredQuestionDto.from(question)),
        ...waitlist.removedQuestions.map((question) => ConfiguredQuestionDto.from(question, true)),
      ],
      is_closed: waitlist.isClosed,
      is_public: waitlist.isPublic,
      hide_counts: waitlist.hidesCounts,
      statistics: {
        current_signups: active,
        offered_signups: offered,
        offboarded_signups: offboarded,
        total_signups: active + offered + offboarded,
        referred_signups: waitlist.referredActive + waitlist.referredOffered + waitlist.referredOffboarded,
        ...(waiting && { pending_signups: waiting.pending, withheld_signups: waiting.withheld }),
      },
      spots_to_move_upon_referral: waitlist.spotsPerReferral,
      default_region: waitlist.defaultRegion,
      frame_origins: wholeDisplay(waitlist.display).frame_origins,
      created_at: timestamp(waitlist.createdAt),
      ...TrustDto.of(waitlist),
      ...MailSettingsViewDto.of(waitlist),
      ...OfferSettingsViewDto.of(waitlist),
      ...DisplayDto.of(waitlist),
      ...ReleaseSettingsViewDto.of(waitlist),
    };
  }
}

const OWNER_ONLY = [
  'slug',
  'default_region',
  'is_public',
  'frame_origins',
  'verification',
  'fraud',
  'mails',
  'mail_subject',
  'mail_text',
  'mail_on_offboarding',
  'mail_on_signup',
  'offers',
  'contact',
  'release_plan',
] as const;

/** The owner's and the public view as one type: generated clients have no good name for "one or the other". */
export class WaitlistViewDto extends IntersectionType(
  OmitType(WaitlistDto, [...OWNER_ONLY, 'statistics']),
  PartialType(PickType(WaitlistDto, OWNER_ONLY)),
) {
  /** Inline, because OpenAPI 3.0 cannot make a reference nullable. */
  @ApiProperty({
    type: 'object',
    nullable: true,
    properties: STATISTIC,
    required: ['total_signups', 'current_signups'],
    // The property itself is required.
    selfRequired: true,
    description: 'The number of records on the waitlist. Null in the public view of a waitlist that hides its counts.',
  })
  statistics!: (Pick<StatisticsDto, 'total_signups' | 'current_signups'> & Partial<StatisticsDto>) | null;

  @ApiPropertyOptional({
    format: 'date-time',
    maxLength: 24,
    description: "The time by the service's clock, ISO 8601 in UTC. Only in the public view.",
    example: '2026-11-21T09:30:00.000Z',
  })
  now?: string;

  @ApiPropertyOptional({
    description:
      'Whether this service sends mail (`SMTP_URL`). Without it, no email can be verified now. Only in the public view.',
    example: true,
  })
  sends_mail?: boolean;

  /** The fields that a signup page needs. */
  static fromPublic(waitlist: Waitlist, sendsMail: boolean): WaitlistViewDto {
    const { statistics, ...view } = WaitlistDto.from({
      ...waitlist,
      removedQuestions: [],
      mails: NO_MAILS,
      releasePlan: null,
    });
    const { total_signups, current_signups } = statistics;
    const display: Omit<DisplayDto, 'contact'> & Partial<DisplayDto> = DisplayDto.of(waitlist);
    // Ids can be counted up: the contacts of all owners would be public.
    delete display.contact;
    return {
      id: view.id,
      public_key: view.public_key,
      waitlist_name: view.waitlist_name,
      waitlist_url_location: view.waitlist_url_location,
      required_contact: view.required_contact,
      questions: view.questions,
      is_closed: view.is_closed,
      hide_counts: view.hide_counts,
      spots_to_move_upon_referral: view.spots_to_move_upon_referral,
      created_at: view.created_at,
      statistics: waitlist.hidesCounts ? null : { total_signups, current_signups },
      now: new Date().toISOString(),
      sends_mail: sendsMail,
      captcha: waitlist.captcha && publicCaptcha(waitlist.captcha),
      ...display,
    };
  }
}

export class UpdatedWaitlistDto extends WaitlistDto {
  @ApiProperty({
    ...COUNT_SCHEMA,
    description: 'Number of active records reordered because `spots_to_move_upon_referral` changed.',
    example: 0,
  })
  records_moved!: number;

  static afterChange(waitlist: WordedWaitlist, waiting: Waiting, recordsMoved: number): UpdatedWaitlistDto {
    return { ...WaitlistDto.from(waitlist, waiting), records_moved: recordsMoved };
  }
}

export class ApiKeyDto {
  @ApiProperty({
    maxLength: 64,
    description: 'Shown only once; the service stores a hash of it.',
    example: '5f4dcc3b5aa765d61d8327deb882cf99a1b2c3d4',
  })
  api_key!: string;
}

export class CreatedWaitlistDto extends IntersectionType(WaitlistDto, ApiKeyDto) {
  static withKey(waitlist: WordedWaitlist, apiKey: string): CreatedWaitlistDto {
    return { ...WaitlistDto.from(waitlist, { pending: 0, withheld: 0 }), api_key: apiKey };
  }
}
