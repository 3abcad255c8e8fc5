import { ApiProperty } from '@nestjs/swagger';
import { broken, Flag, Id, Text, TextList } from '../platform/contract/fields.js';
import { ID_SCHEMA, TEXT_PATTERN } from '../platform/contract/formats.js';
import { KnownFieldsOnly } from '../platform/contract/request.js';
import {
  type GivenQuestion,
  LIVE_QUESTIONS_BYTES_MAX,
  LIVE_QUESTIONS_MAX,
  QUESTION_LENGTH_MAX,
  QUESTIONS_MAX,
} from '../queue/settings/questions.js';
import type { Question } from '../queue/settings/waitlist.entity.js';

export const QUESTIONS = { maxItems: QUESTIONS_MAX } as const;
const QUESTION = {
  maxLength: QUESTION_LENGTH_MAX,
  description: 'The question. The answers in a signup refer to it by this text.',
  example: 'How did you hear of us?',
} as const;
const OPTIONAL = { description: 'Whether the question may be left unanswered.' } as const;
const OPTIONS = {
  maxItems: 100,
  nullable: true,
  description: 'The options to choose from; null asks for free text.',
  example: ['A friend', 'The news', 'Elsewhere'],
};

@KnownFieldsOnly()
export class QuestionDto {
  @Id({
    optional: true,
    description:
      'The `id` of a question of this waitlist, which keeps its answers even if its text changes. Omit it for a new question. Without it, a question with the text of an existing one keeps the `id` of that one.',
  })
  id?: number;

  @Text({ ...QUESTION, minLength: 1 })
  question_value!: string;

  @Flag({ ...OPTIONAL, default: true })
  optional?: boolean;

  @TextList({
    ...OPTIONS,
    default: null,
    minItems: 1,
    items: { minLength: 1, maxLength: QUESTION_LENGTH_MAX, pattern: TEXT_PATTERN },
  })
  answer_value?: string[] | null;

  @Flag({ default: false, description: 'True for a removed question that is sent back; it is ignored.' })
  soft_deleted?: boolean;

  static toQuestion({ id, question_value, optional, answer_value, soft_deleted }: QuestionDto): GivenQuestion {
    return {
      id: id ?? null,
      text: question_value,
      optional: optional ?? true,
      options: answer_value ?? null,
      removed: soft_deleted ?? false,
    };
  }
}

/** A question as the waitlist has it. */
export class ConfiguredQuestionDto {
  @ApiProperty({
    ...ID_SCHEMA,
    description: 'Identifies the question within the waitlist, whatever its text. Never reused.',
    example: 1,
  })
  id!: number;

  @ApiProperty(QUESTION)
  question_value!: string;

  @ApiProperty({ ...OPTIONAL, example: true })
  optional!: boolean;

  @ApiProperty({ ...OPTIONS, type: 'array', items: { type: 'string', maxLength: QUESTION_LENGTH_MAX } })
  answer_value!: readonly string[] | null;

  @ApiProperty({ description: 'Whether the question was removed. Its answers remain.', example: false })
  soft_deleted!: boolean;

  static from({ id, text, optional, options }: Question, soft_deleted = false): ConfiguredQuestionDto {
    return { id, question_value: text, optional, answer_value: options, soft_deleted };
  }
}

/** Faults of the questions of a request as a whole. */
export function questionFaults(questions: readonly QuestionDto[]) {
  const live = questions.filter(({ soft_deleted }) => !soft_deleted);
  if (live.length > LIVE_QUESTIONS_MAX)
    return broken('max_items', `must have at most ${LIVE_QUESTIONS_MAX} items that are not removed`);
  if (Buffer.byteLength(JSON.stringify(live)) > LIVE_QUESTIONS_BYTES_MAX)
    return broken('max_bytes', `must have at most ${LIVE_QUESTIONS_BYTES_MAX} bytes as compact JSON`);
  const texts = live.map(({ question_value }) => question_value);
  return live.flatMap((question, index) =>
    texts.indexOf(question.question_value) === index
      ? []
      : broken('unique', 'must differ from other questions', `[${questions.indexOf(question)}].question_value`),
  );
}
