import { STATUS_CODES } from 'node:http';
import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { FAULTS_MAX, FIELD_LENGTH_MAX, type Problem } from './problem.js';
import { type Rule, RULES } from './rule.js';

const EXPLANATION = { maxLength: 16384, example: 'email must be an email address' };

export class FieldFaultDto {
  @ApiProperty({ description: 'The field, as the request spells it.', maxLength: FIELD_LENGTH_MAX, example: 'email' })
  field!: string;

  @ApiProperty({
    description: `The rule that the field breaks, a stable name for programs: ${RULES.map((rule) => `\`${rule}\``).join(', ')}. Later versions may add names.`,
    pattern: '^[a-z_]+$',
    maxLength: 64,
    example: 'format',
  })
  rule!: Rule;

  @ApiProperty({
    description: 'The rule in words, as the rest of a sentence that begins with the field.',
    maxLength: 2048,
    example: 'must be an email address',
  })
  message!: string;
}

/** Problem details (RFC 9457), with the fields that existing clients of this API read. */
export class ProblemDto {
  @ApiProperty({
    description: 'Where this kind of problem is explained.',
    format: 'uri-reference',
    maxLength: 200,
    example: '/docs/errors#invalid_request',
  })
  type!: string;

  @ApiProperty({ description: 'The name of the HTTP status.', maxLength: 100, example: 'Bad Request' })
  title!: string;

  @ApiProperty({
    type: 'integer',
    format: 'int32',
    minimum: 400,
    maximum: 599,
    description: 'The HTTP status code.',
    example: 400,
  })
  status!: number;

  @ApiProperty({ description: 'An explanation for people.', ...EXPLANATION })
  detail!: string;

  @ApiProperty({
    description: 'The id of the request, which is also in the log.',
    maxLength: 64,
    example: '0199f2a4-5b6c-7def-8a90-123456789abc',
  })
  instance!: string;

  @ApiPropertyOptional({
    type: [FieldFaultDto],
    description: `The invalid fields, at most ${FAULTS_MAX}; \`detail\` then ends with the number of the others.`,
    maxItems: FAULTS_MAX,
  })
  errors?: FieldFaultDto[];

  @ApiProperty({
    description: 'A stable code for programs.',
    pattern: '^[A-Z][A-Z0-9_]*$',
    maxLength: 64,
    example: 'INVALID_REQUEST',
  })
  error_code!: string;

  @ApiProperty({ description: 'The same as `detail`.', ...EXPLANATION })
  error_string!: string;

  @ApiProperty({ description: 'The same as `detail`.', ...EXPLANATION })
  message!: string;

  /** `instance` is the id of the request. */
  static from({ status, code, message, fields }: Problem, instance: string): ProblemDto {
    return {
      type: `/docs/errors#${code.toLowerCase()}`,
      title: STATUS_CODES[status] ?? 'Error',
      status,
      detail: message,
      instance,
      ...(fields && { errors: fields.map(({ field, rule, message }) => ({ field, rule, message })) }),
      error_code: code,
      error_string: message,
      message,
    };
  }
}
