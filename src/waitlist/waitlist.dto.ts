import { ApiProperty, ApiPropertyOptional, IntersectionType, OmitType, PartialType, PickType } from '@nestjs/swagger';
import { TEXT_PATTERN } from '../platform/contract/patterns.js';
import { COUNT_SCHEMA, ID_SCHEMA } from '../platform/contract/schemas.js';
import { timestamp, TIMESTAMP_SCHEMA } from '../platform/contract/timestamp.js';
import { type Question, REQUIREMENTS, type Requirement, type WaitlistEntity } from '../queue/waitlist.entity.js';
import type { Waitlist, WaitlistSettings } from './waitlist.service.js';

/** The specification's own bound: a listing has three question columns. */
const QUESTIONS_MAX = 3;
const OPTIONS_MAX = 100;
const QUESTION_LENGTH_MAX = 500;

export class QuestionDto {
  @ApiProperty({
    description: 'The question; answers name it by this text.',
    minLength: 1,
    maxLength: QUESTION_LENGTH_MAX,
    pattern: TEXT_PATTERN,
    example: 'How did you hear of us?',
  })
  question_value!: string;

  @ApiPropertyOptional({ description: 'Whether it may be left unanswered.', default: true })
  optional?: boolean;

  @ApiPropertyOptional({
    description: 'The options to choose from; null asks for free text.',
    type: 'array',
    items: { type: 'string', minLength: 1, maxLength: QUESTION_LENGTH_MAX, pattern: TEXT_PATTERN },
    minItems: 1,
    maxItems: OPTIONS_MAX,
    uniqueItems: true,
    nullable: true,
    default: null,
    example: ['A friend', 'The news', 'Elsewhere'],
  })
  answer_value?: string[] | null;

  static toQuestion({ question_value, optional = true, answer_value = null }: QuestionDto): Question {
    return { text: question_value, optional, options: answer_value };
  }
}

/** A question as the waitlist has it. */
export class ConfiguredQuestionDto {
  @ApiProperty({
    description: 'The question; answers name it by this text.',
    maxLength: QUESTION_LENGTH_MAX,
    example: 'How did you hear of us?',
  })
  question_value!: string;

  @ApiProperty({ description: 'Whether it may be left unanswered.', example: true })
  optional!: boolean;

  @ApiProperty({
    description: 'The options to choose from; null asks for free text.',
    type: 'array',
    items: { type: 'string', maxLength: QUESTION_LENGTH_MAX },
    maxItems: OPTIONS_MAX,
    nullable: true,
    example: ['A friend', 'The news', 'Elsewhere'],
  })
  answer_value!: string[] | null;

  static from({ text, optional, options }: Question): ConfiguredQuestionDto {
    return { question_value: text, optional, answer_value: options && [...options] };
  }
}

const REQUIREMENT = { enum: REQUIREMENTS, enumName: 'Requirement' } as const;

export class RequiredContactDto {
  @ApiPropertyOptional({ ...REQUIREMENT, default: 'required' })
  email?: Requirement;

  @ApiPropertyOptional({ ...REQUIREMENT, default: 'optional' })
  phone?: Requirement;

  @ApiPropertyOptional({ ...REQUIREMENT, default: 'optional' })
  first_name?: Requirement;

  @ApiPropertyOptional({ ...REQUIREMENT, default: 'optional' })
  last_name?: Requirement;
}

/** What people must give, as the waitlist has it. */
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
  @ApiProperty({
    description: 'For people to read.',
    minLength: 1,
    maxLength: 200,
    pattern: TEXT_PATTERN,
    example: 'My waitlist',
  })
  waitlist_name!: string;

  @ApiProperty({
    description: 'URL of the page where people sign up; referral links lead there.',
    format: 'http-url',
    minLength: 1,
    maxLength: 2048,
    pattern: TEXT_PATTERN,
    example: 'https://example.com/join',
  })
  waitlist_url_location!: string;

  @ApiPropertyOptional({
    description:
      'Places that a record moves up for each person it refers. A change reorders the line at once, past referrals too.',
    type: 'integer',
    format: 'int32',
    minimum: 0,
    maximum: 10_000,
    default: 3,
  })
  spots_to_move_upon_referral?: number;

  @ApiPropertyOptional({
    description: 'What people must give; fields left out keep their value. Email or phone must stay on.',
    type: RequiredContactDto,
  })
  required_contact?: RequiredContactDto;

  @ApiPropertyOptional({
    description: 'Country of phone numbers without a country code (ISO 3166-1 alpha-2).',
    type: String,
    format: 'country-code',
    pattern: '^[A-Z]{2}$',
    maxLength: 2,
    nullable: true,
    example: 'US',
  })
  default_region?: string | null;

  @ApiPropertyOptional({
    description: 'What people are asked at signup.',
    type: [QuestionDto],
    maxItems: QUESTIONS_MAX,
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

export class UpdateWaitlistDto extends PartialType(CreateWaitlistDto) {}

export class StatisticsDto {
  @ApiProperty({ ...COUNT_SCHEMA, description: 'Active records.', example: 40 })
  current_signups!: number;

  @ApiProperty({ ...COUNT_SCHEMA, description: 'Records that left the line.', example: 2 })
  offboarded_signups!: number;

  @ApiProperty({ ...COUNT_SCHEMA, description: 'All records, active and offboarded.', example: 42 })
  total_signups!: number;

  @ApiProperty({ ...COUNT_SCHEMA, description: 'Records that another referred.', example: 12 })
  referred_signups!: number;
}

export class PublicStatisticsDto {
  @ApiProperty({ ...COUNT_SCHEMA, description: 'All records, active and offboarded.', example: 42 })
  total_signups!: number;
}

/** What a page may know to draw its form. */
export class PublicWaitlistDto {
  @ApiProperty({ ...ID_SCHEMA, description: 'Names the waitlist.', example: 1 })
  id!: number;

  @ApiProperty({ description: 'For people to read.', maxLength: 200, example: 'My waitlist' })
  waitlist_name!: string;

  @ApiProperty({
    description: 'URL of the page where people sign up.',
    maxLength: 2048,
    format: 'uri',
    example: 'https://example.com/join',
  })
  waitlist_url_location!: string;

  @ApiProperty({ description: 'What people must give, may give, or are not asked for.', type: ConfiguredContactDto })
  required_contact!: ConfiguredContactDto;

  @ApiProperty({
    description: 'What people are asked at signup.',
    type: [ConfiguredQuestionDto],
    maxItems: QUESTIONS_MAX,
  })
  questions!: ConfiguredQuestionDto[];

  @ApiProperty({ description: 'How many records the waitlist holds.', type: PublicStatisticsDto })
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
    type: 'integer',
    format: 'int32',
    minimum: 0,
    maximum: 10_000,
    description: 'Places that a record moves up for each person it refers.',
    example: 3,
  })
  spots_to_move_upon_referral!: number;

  @ApiProperty({
    type: String,
    nullable: true,
    maxLength: 2,
    description: 'Country of phone numbers without a country code (ISO 3166-1 alpha-2).',
    example: 'US',
  })
  default_region!: string | null;

  @ApiProperty(TIMESTAMP_SCHEMA)
  created_at!: string;

  @ApiProperty({ description: 'How many records the waitlist holds.', type: StatisticsDto })
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

/** Either view as one type, for generated clients have no good name for "the one or the other". */
export class WaitlistViewDto extends IntersectionType(
  OmitType(PublicWaitlistDto, ['statistics']),
  PartialType(PickType(WaitlistDto, ['spots_to_move_upon_referral', 'default_region', 'created_at'])),
) {
  @ApiProperty({ description: 'How many records the waitlist holds.', type: StatisticsViewDto })
  statistics!: StatisticsViewDto;
}

export class UpdatedWaitlistDto extends WaitlistDto {
  @ApiProperty({
    ...COUNT_SCHEMA,
    description: 'Active records that got another key because `spots_to_move_upon_referral` changed.',
    example: 0,
  })
  records_moved!: number;

  static afterChange(waitlist: Waitlist, recordsMoved: number): UpdatedWaitlistDto {
    return { ...WaitlistDto.from(waitlist), records_moved: recordsMoved };
  }
}

export class ApiKeyDto {
  @ApiProperty({
    description: 'Shown this once; only a hash of it is stored.',
    maxLength: 64,
    example: '5f4dcc3b5aa765d61d8327deb882cf99a1b2c3d4',
  })
  api_key!: string;
}

export class CreatedWaitlistDto extends WaitlistDto {
  @ApiProperty({
    description: 'Shown this once; only a hash of it is stored.',
    maxLength: 64,
    example: '5f4dcc3b5aa765d61d8327deb882cf99a1b2c3d4',
  })
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
