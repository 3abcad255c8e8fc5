import { ApiProperty, IntersectionType, OmitType, PartialType, PickType } from '@nestjs/swagger';
import { Flag, HttpUrl, Nested, NestedList, OneOf, Text, TextList, WholeNumber } from '../platform/contract/fields.js';
import { COUNT_SCHEMA, ID_SCHEMA, TEXT_PATTERN, timestamp, TIMESTAMP_SCHEMA } from '../platform/contract/formats.js';
import { type Question, REQUIREMENTS, type Requirement, type WaitlistEntity } from '../queue/waitlist.entity.js';
import type { Waitlist, WaitlistSettings } from './waitlist.service.js';

/** The specification's own bound: a listing has three question columns. */
const QUESTIONS_MAX = 3;
const NAME = { maxLength: 200, description: 'Display name.', example: 'My waitlist' } as const;
const URL_LOCATION = { maxLength: 2048, example: 'https://example.com/join' } as const;
const SPOTS = { minimum: 0, maximum: 10_000 } as const;
const REGION = {
  maxLength: 2,
  nullable: true,
  description: 'Country of phone numbers without a country code (ISO 3166-1 alpha-2).',
  example: 'US',
} as const;
const QUESTION = {
  maxLength: 500,
  description: 'The question; answers refer to it by this text.',
  example: 'How did you hear of us?',
} as const;
const OPTIONS = {
  maxItems: 100,
  nullable: true,
  description: 'The options to choose from; null asks for free text.',
  example: ['A friend', 'The news', 'Elsewhere'],
};
const NEW_API_KEY = {
  maxLength: 64,
  description: 'Shown only once; the service stores a hash of it.',
  example: '5f4dcc3b5aa765d61d8327deb882cf99a1b2c3d4',
} as const;
const REQUIREMENT = { enum: REQUIREMENTS, enumName: 'Requirement' } as const;

export class QuestionDto {
  @Text({ ...QUESTION, minLength: 1 })
  question_value!: string;

  @Flag({ optional: true, default: true, description: 'Whether the question may be left unanswered.' })
  optional?: boolean;

  @TextList({
    ...OPTIONS,
    optional: true,
    minItems: 1,
    items: { minLength: 1, maxLength: QUESTION.maxLength, pattern: TEXT_PATTERN },
    default: null,
  })
  answer_value?: string[] | null;

  static toQuestion({ question_value, optional = true, answer_value = null }: QuestionDto): Question {
    return { text: question_value, optional, options: answer_value };
  }
}

/** A question as the waitlist has it. */
export class ConfiguredQuestionDto {
  @ApiProperty(QUESTION)
  question_value!: string;

  @ApiProperty({ description: 'Whether the question may be left unanswered.', example: true })
  optional!: boolean;

  @ApiProperty({ ...OPTIONS, type: 'array', items: { type: 'string', maxLength: QUESTION.maxLength } })
  answer_value!: string[] | null;

  static from({ text, optional, options }: Question): ConfiguredQuestionDto {
    return { question_value: text, optional, answer_value: options && [...options] };
  }
}

export class RequiredContactDto {
  @OneOf({ ...REQUIREMENT, optional: true, default: 'required' })
  email?: Requirement;

  @OneOf({ ...REQUIREMENT, optional: true, default: 'optional' })
  phone?: Requirement;

  @OneOf({ ...REQUIREMENT, optional: true, default: 'optional' })
  first_name?: Requirement;

  @OneOf({ ...REQUIREMENT, optional: true, default: 'optional' })
  last_name?: Requirement;
}

/** The contact data to give, as the waitlist has it. */
export class ConfiguredContactDto {
  @ApiProperty({ ...REQUIREMENT, example: 'required' })
  email!: Requirement;

  @ApiProperty({ ...REQUIREMENT, example: 'optional' })
  phone!: Requirement;

  @ApiProperty({ ...REQUIREMENT, example: 'optional' })
  first_name!: Requirement;

  @ApiProperty({ ...REQUIREMENT, example: 'optional' })
  last_name!: Requirement;
}

export class CreateWaitlistDto {
  @Text({ ...NAME, minLength: 1 })
  waitlist_name!: string;

  @HttpUrl({
    ...URL_LOCATION,
    minLength: 1,
    description: 'URL of the page where people sign up. Referral links lead there.',
  })
  waitlist_url_location!: string;

  @WholeNumber({
    ...SPOTS,
    optional: true,
    default: 3,
    description:
      'Positions that a record moves up for each person it refers. A change reorders the queue at once, counting past referrals too.',
  })
  spots_to_move_upon_referral?: number;

  @Nested(RequiredContactDto, {
    optional: true,
    description: 'The contact data to give; fields left out keep their value. Email or phone must not be off.',
  })
  required_contact?: RequiredContactDto;

  @Text({ ...REGION, optional: true, format: 'country-code', pattern: '^[A-Z]{2}$' })
  default_region?: string | null;

  @NestedList(QuestionDto, {
    optional: true,
    maxItems: QUESTIONS_MAX,
    description: 'The questions that a signup answers.',
  })
  questions?: QuestionDto[];

  static toSettings<Body extends Partial<CreateWaitlistDto>>(body: Body) {
    return {
      name: body.waitlist_name as Body['waitlist_name'],
      urlLocation: body.waitlist_url_location as Body['waitlist_url_location'],
      spotsPerReferral: body.spots_to_move_upon_referral,
      requiredContact: body.required_contact,
      defaultRegion: body.default_region,
      questions: body.questions?.map((question) => QuestionDto.toQuestion(question)),
    } satisfies WaitlistSettings;
  }
}

/** Left out means unchanged, but null is still not a value. */
export class UpdateWaitlistDto extends PartialType(CreateWaitlistDto, { skipNullProperties: false }) {}

export class StatisticsDto {
  @ApiProperty({ ...COUNT_SCHEMA, description: 'Number of active records.', example: 40 })
  current_signups!: number;

  @ApiProperty({ ...COUNT_SCHEMA, description: 'Number of offboarded records.', example: 2 })
  offboarded_signups!: number;

  @ApiProperty({ ...COUNT_SCHEMA, description: 'Number of all records, active and offboarded.', example: 42 })
  total_signups!: number;

  @ApiProperty({ ...COUNT_SCHEMA, description: 'Number of records that another record referred.', example: 12 })
  referred_signups!: number;
}

export class PublicStatisticsDto {
  @ApiProperty({ ...COUNT_SCHEMA, description: 'Number of all records, active and offboarded.', example: 42 })
  total_signups!: number;
}

/** What a signup page needs to show its form. */
export class PublicWaitlistDto {
  @ApiProperty({ ...ID_SCHEMA, description: 'Identifies the waitlist.', example: 1 })
  id!: number;

  @ApiProperty(NAME)
  waitlist_name!: string;

  @ApiProperty({ ...URL_LOCATION, format: 'uri', description: 'URL of the page where people sign up.' })
  waitlist_url_location!: string;

  @ApiProperty({ description: 'The contact data to give.', type: ConfiguredContactDto })
  required_contact!: ConfiguredContactDto;

  @ApiProperty({
    type: [ConfiguredQuestionDto],
    maxItems: QUESTIONS_MAX,
    description: 'The questions that a signup answers.',
  })
  questions!: ConfiguredQuestionDto[];

  @ApiProperty({ description: 'The number of records on the waitlist.', type: PublicStatisticsDto })
  statistics!: PublicStatisticsDto;

  static from(waitlist: Waitlist): PublicWaitlistDto {
    return {
      ...commonFields(waitlist),
      statistics: { total_signups: waitlist.active + waitlist.offboarded },
    };
  }
}

export class WaitlistDto extends PublicWaitlistDto {
  @ApiProperty({
    ...SPOTS,
    type: 'integer',
    format: 'int32',
    description: 'Positions that a record moves up for each person it refers.',
    example: 3,
  })
  spots_to_move_upon_referral!: number;

  @ApiProperty({ ...REGION, type: String })
  default_region!: string | null;

  @ApiProperty(TIMESTAMP_SCHEMA)
  created_at!: string;

  @ApiProperty({ description: 'The number of records on the waitlist.', type: StatisticsDto })
  declare statistics: StatisticsDto;

  static override from(waitlist: Waitlist): WaitlistDto {
    const { active, offboarded, referredActive, referredOffboarded } = waitlist;
    return {
      ...commonFields(waitlist),
      spots_to_move_upon_referral: waitlist.spotsPerReferral,
      default_region: waitlist.defaultRegion,
      created_at: timestamp(waitlist.createdAt),
      statistics: {
        current_signups: active,
        offboarded_signups: offboarded,
        total_signups: active + offboarded,
        referred_signups: referredActive + referredOffboarded,
      },
    };
  }
}

class StatisticsViewDto extends IntersectionType(
  PublicStatisticsDto,
  PartialType(OmitType(StatisticsDto, ['total_signups'])),
) {}

/** Both views as one type, because generated clients have no good name for "one or the other". */
export class WaitlistViewDto extends IntersectionType(
  OmitType(PublicWaitlistDto, ['statistics']),
  PartialType(PickType(WaitlistDto, ['spots_to_move_upon_referral', 'default_region', 'created_at'])),
) {
  @ApiProperty({ description: 'The number of records on the waitlist.', type: StatisticsViewDto })
  statistics!: StatisticsViewDto;
}

export class UpdatedWaitlistDto extends WaitlistDto {
  @ApiProperty({
    ...COUNT_SCHEMA,
    description: 'Number of active records reordered because `spots_to_move_upon_referral` changed.',
    example: 0,
  })
  records_moved!: number;

  static afterChange(waitlist: Waitlist, recordsMoved: number): UpdatedWaitlistDto {
    return { ...WaitlistDto.from(waitlist), records_moved: recordsMoved };
  }
}

export class ApiKeyDto {
  @ApiProperty(NEW_API_KEY)
  api_key!: string;
}

export class CreatedWaitlistDto extends WaitlistDto {
  @ApiProperty(NEW_API_KEY)
  api_key!: string;

  static withKey(waitlist: Waitlist, apiKey: string): CreatedWaitlistDto {
    return { ...WaitlistDto.from(waitlist), api_key: apiKey };
  }
}

function commonFields(waitlist: WaitlistEntity) {
  const { email, phone, first_name, last_name } = waitlist.requiredContact;
  return {
    id: waitlist.id,
    waitlist_name: waitlist.name,
    waitlist_url_location: waitlist.urlLocation,
    required_contact: { email, phone, first_name, last_name },
    questions: waitlist.questions.map((question) => ConfiguredQuestionDto.from(question)),
  };
}
