import { ApiProperty, getSchemaPath } from '@nestjs/swagger';
import { AnyText, Flag } from '../platform/contract/fields.js';
import { COUNT_SCHEMA, openEnum } from '../platform/contract/formats.js';
import type { LatestRun } from '../queue/import/importer.js';
import type { ImportFault, ImportReport } from '../queue/import/import-run.entity.js';
import { COLUMNS_MAX, IMPORTED } from './column-names.js';
import { COLUMN_LENGTH_MAX } from './import-file.js';
import { ERRORS_MAX, IGNORED_SHOWN } from './import.service.js';
import { MAPPING_LENGTH_MAX } from './mapping.js';

const STATES = ['running', 'done', 'failed'] as const;

export class ImportDto {
  @Flag({ default: false, lenient: true, description: 'Only reports what an import would do.' })
  dry_run: boolean = false;

  /** Has no example, because `/docs` would prefill it. */
  @AnyText({
    optional: true,
    maxLength: MAPPING_LENGTH_MAX,
    format: 'column-mapping',
    description:
      'A JSON object that says what columns of the file are read as, by their names in its first line, such as `{"Adresse": "email", "Notes": "metadata", "Phone": null}`: the name of a column that an import knows, `null` to leave one out, or `metadata` to keep its values in the metadata under its name. It overrides what the names say. An invalid value in such a column rejects its line. Only `metadata` may be given for more than one column.',
  })
  columns?: string;
}

/** A fault of a value or a line. */
export class ImportErrorDto {
  @ApiProperty({ ...COUNT_SCHEMA, description: 'The line of the file; the header is line 1.', example: 7 })
  line!: number;

  @ApiProperty({ maxLength: 100, description: 'The column, or `line` for the line as a whole.', example: 'email' })
  field!: string;

  @ApiProperty({
    maxLength: 2048,
    description: 'The fault, as the rest of a sentence that begins with the field.',
    example: 'must be an email address',
  })
  message!: string;

  static from({ line, field, message }: ImportFault): ImportErrorDto {
    return { line, field, message };
  }
}

/** A column of the file. */
export class ImportColumnDto {
  @ApiProperty({
    maxLength: COLUMN_LENGTH_MAX,
    description: `Its name in the file, cut to ${COLUMN_LENGTH_MAX} characters.`,
    example: 'First Name',
  })
  header!: string;

  @ApiProperty({
    ...openEnum(IMPORTED),
    type: 'string',
    nullable: true,
    description: 'What it was read as; null if it was ignored.',
    example: 'first_name',
  })
  column!: string | null;

  @ApiProperty({
    ...COUNT_SCHEMA,
    description:
      'Number of invalid values that were left out, because the column was recognized by another spelling or name.',
    example: 0,
  })
  ignored_values!: number;

  @ApiProperty({
    type: [ImportErrorDto],
    maxItems: IGNORED_SHOWN,
    description: `The faults of the first ${IGNORED_SHOWN} of these values, in the order of the lines.`,
  })
  first_ignored!: ImportErrorDto[];
}

export class ImportReportDto {
  @ApiProperty({ ...COUNT_SCHEMA, description: 'Lines that became records.', example: 998 })
  imported!: number;

  @ApiProperty({
    ...COUNT_SCHEMA,
    description:
      'Lines about a person whose email or phone the waitlist or an earlier line has already, or who was erased.',
    example: 1,
  })
  skipped!: number;

  @ApiProperty({ ...COUNT_SCHEMA, description: 'Lines with a fault.', example: 1 })
  rejected!: number;

  @ApiProperty({
    ...COUNT_SCHEMA,
    description:
      'Imported records whose `referred_by` is a token of no record in the file or on the waitlist. The token is kept: a later import can add its record.',
    example: 0,
  })
  unresolved_referrals!: number;

  @ApiProperty({
    ...COUNT_SCHEMA,
    description: 'The sum of `ignored_values` of all columns. Their lines were read without these values.',
    example: 0,
  })
  ignored_values!: number;

  @ApiProperty({
    type: [ImportColumnDto],
    maxItems: COLUMNS_MAX,
    description: 'What each column was read as, in the order of the file. Empty in reports of v0.2.0.',
  })
  columns!: ImportColumnDto[];

  @ApiProperty({
    type: [String],
    maxItems: COLUMNS_MAX,
    items: { type: 'string', maxLength: COLUMN_LENGTH_MAX },
    description: 'Columns that an import does not read.',
    example: ['notes'],
  })
  ignored_columns!: string[];

  @ApiProperty({
    type: [ImportErrorDto],
    maxItems: ERRORS_MAX,
    description: `The first ${ERRORS_MAX} faults, in the order of the lines. If the import ended early, the last says where.`,
  })
  errors!: ImportErrorDto[];

  static from(report: ImportReport): ImportReportDto {
    return {
      imported: report.imported,
      skipped: report.skipped,
      rejected: report.rejected,
      unresolved_referrals: report.unresolved_referrals,
      ignored_values: report.ignored_values ?? 0,
      columns: (report.columns ?? []).map(({ header, column, ignored_values, first_ignored: first }) => ({
        header,
        column,
        ignored_values,
        first_ignored: first.map((fault) => ImportErrorDto.from(fault)),
      })),
      ignored_columns: [...report.ignored_columns],
      errors: report.errors.map((fault) => ImportErrorDto.from(fault)),
    };
  }
}

export class ImportRunDto {
  @ApiProperty({
    ...openEnum(STATES),
    description: '`failed`: it was interrupted. Import the same file again to complete it.',
    example: 'done',
  })
  state!: (typeof STATES)[number];

  @ApiProperty({
    // Null is a case of its own, because the report itself is none.
    oneOf: [{ $ref: getSchemaPath(ImportReportDto) }, { type: 'object', nullable: true, enum: [null] }],
    description: 'The report of an import that is done, or null.',
  })
  report!: ImportReportDto | null;

  static from({ state, report }: LatestRun): ImportRunDto {
    return { state, report: report && ImportReportDto.from(report) };
  }
}
