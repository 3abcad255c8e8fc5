/**
 * The cells of a record in a file, both ways: an export writes them, and an import reads them.
 *
 * A spreadsheet runs a cell that begins like a formula. So an export puts `'` before such a cell, and before text that
 * begins with `'`, and an import drops one: every text comes back as it was.
 */
import { parse } from 'secure-json-parse';
import { CREDIT_REASONS, type CreditReason } from '../fraud/fraud-rules.js';
import { emailKey, invalidEmail } from '../platform/contract/email.js';
import { broken, METADATA_BYTES_MAX, metadataFault, NAME_LENGTH_MAX, textFault } from '../platform/contract/fields.js';
import { EMAIL_SCHEMA, parseTime, PHONE_SCHEMA, TEXT_PATTERN, UUID_PATTERN } from '../platform/contract/formats.js';
import { LEVELS_MAX, VALUES_MAX } from '../platform/http/body-and-query.js';
import type { FieldFault } from '../platform/problems/problem.js';
import type { Rule } from '../platform/problems/rule.js';
import { contactFaults, contactKeys, nonBlank } from '../queue/record/contact.js';
import { type Credit, CREDITS, REMOVED_REASONS, type RemovedReason } from '../queue/record/waiter.entity.js';
import type { NamedAnswer } from '../queue/import/import-questions.js';
import type { ScannedWaiter } from '../queue/read/queue.scanner.js';
import { ANSWER_LENGTH_MAX, QUESTION_LENGTH_MAX, type Questions } from '../queue/settings/questions.js';
import { answersOf, type GivenAnswer } from '../queue/record/given-answers.js';
import { isToken } from '../queue/record/referral-link.js';
import type { ContactKeys, JsonObject } from '../queue/record/waiter.js';
import type { Column } from './column-names.js';

const LIVE_QUESTIONS = [1, 2, 3] as const;

/** The greatest number in a cell: a wrong `join_order` must not use up the numbers of the queue. */
const NUMBER_MAX = 1_000_000_000;
const ANSWERS_MAX = 30;
const CHOICES_MAX = 100;
/** Longer JSON is not parsed: a line may have 2 MiB. Six characters of JSON, such as `\u0061`, may stand for one. */
const JSON_LENGTH_MAX = {
  metadata: 6 * METADATA_BYTES_MAX,
  answers: 6 * ANSWERS_MAX * (QUESTION_LENGTH_MAX + ANSWER_LENGTH_MAX),
  choices: 6 * CHOICES_MAX * QUESTION_LENGTH_MAX,
};

type Value = string | number | boolean | null | JsonObject | readonly GivenAnswer[];

/** The values of one record by column. */
export type Values = Readonly<Record<Column, Value>>;

/** The values of a record in an export: JSON in a line of NDJSON, and text in a row of CSV ({@link toCell}). */
export function valuesOf({ waiter, position, joinOrder, hasReferrer }: ScannedWaiter, questions: Questions): Values {
  const given = answersOf(waiter, questions);
  const live = given.filter(({ soft_deleted }) => !soft_deleted);
  // By their texts, because an import gives them ids in another order.
  const removed = given.slice(live.length).sort((one, other) => (one.question_value < other.question_value ? -1 : 1));
  const answers = [...live, ...removed];
  const [first, second, third] = live;
  return {
    join_order: joinOrder,
    position,
    email: waiter.email,
    registered_email: waiter.registeredEmail,
    phone: waiter.phone,
    first_name: waiter.firstName,
    last_name: waiter.lastName,
    created_at: waiter.createdAt.toISOString(),
    verified: waiter.verified,
    referral_token: waiter.referralToken,
    referred_by: waiter.referredByToken,
    amount_referred: waiter.creditedReferrals,
    credit: hasReferrer ? waiter.credit : 'none',
    credit_reasons: waiter.creditReasons.join(',') || null,
    spots_advanced: waiter.spotsAdvanced,
    removed_date: waiter.removedAt && waiter.removedAt.toISOString(),
    // An offered record is exported as waiting, without its offer.
    removed_priority: waiter.status === 'offboarded' ? waiter.removedPriority : null,
    removed_reason: waiter.removedReason,
    joined_priority: waiter.joinedPriority,
    uuid: waiter.uuid,
    metadata: waiter.metadata,
    question_1: first?.question_value ?? null,
    answer_1: pairValue(first),
    question_2: second?.question_value ?? null,
    answer_2: pairValue(second),
    question_3: third?.question_value ?? null,
    answer_3: pairValue(third),
    answers: answers.length > 0 ? answers : null,
  };
}

/** The cell of a value in CSV, not yet quoted. */
export function toCell(value: Value): string {
  if (value === null) return '';
  const text = typeof value === 'object' ? JSON.stringify(value) : String(value);
  return FORMULA.test(text) ? `'${text}` : text;
}

const FORMULA = /^'*[=+\-@\t\r\n＝＋－＠]/;
const MARKED_FORMULA = /^'+[=+\-@\t\r\n＝＋－＠]/;

/** A list is written as JSON, which {@link readLine} recognizes. */
function pairValue(answer: GivenAnswer | undefined): string | null {
  const value = answer?.answer_value ?? null;
  return value === null || typeof value === 'string' ? value : JSON.stringify(value);
}

/** The cells of a line by column, as the file has them. A column that the file lacks is missing. */
export type Cells = Readonly<Partial<Record<Column, string>>>;

/** One line of an import. Null and 0 stand for an empty cell and a missing column. */
export interface Line {
  readonly email: string | null;
  readonly registeredEmail: string | null;
  readonly phone: string | null;
  readonly keys: ContactKeys;
  readonly firstName: string | null;
  readonly lastName: string | null;
  readonly joinOrder: number | null;
  readonly createdAt: Date | null;
  readonly verified: boolean;
  readonly referralToken: string | null;
  readonly referredByToken: string | null;
  readonly amountReferred: number;
  readonly credit: Credit | null;
  readonly creditReasons: readonly CreditReason[];
  readonly spotsAdvanced: number;
  readonly removedAt: Date | null;
  /** Null if there is no `removedAt`, and where the file does not say. */
  readonly removedPriority: number | null;
  /** As `removedPriority`. */
  readonly removedReason: RemovedReason | null;
  readonly joinedPriority: number | null;
  /** In lower case. */
  readonly uuid: string | null;
  readonly metadata: JsonObject | null;
  readonly answers: readonly NamedAnswer[];
}

/** How to read a line, besides its cells. */
interface LineOptions {
  /** Values that go into the metadata, by column name. */
  readonly kept?: Readonly<Record<string, string>>;
  /** The columns whose invalid values are left out. */
  readonly guessed?: ReadonlySet<Column>;
}

export interface ReadLine {
  readonly line: Line;
  readonly faults: readonly FieldFault[];
  /** The faults of values that were left out, by column. */
  readonly ignored: ReadonlyMap<Column, FieldFault>;
}

/**
 * Reads the cells of a line, and lists their faults by column. A line with a fault must not be used. `region` is for
 * phones without country code.
 */
export function readLine(cells: Cells, region: string | null, { kept, guessed }: LineOptions = {}): ReadLine {
  const reader = new CellReader(cells, guessed);
  const { email, phone, keys } = reader.contact(region);
  const removedAt = reader.time('removed_date');
  const removedPriority = reader.number('removed_priority');
  if (removedPriority !== null && removedAt === null && !cells.removed_date)
    reader.addFault('removed_date', 'required', 'is required with removed_priority', 'removed_priority');
  const removedReason = reader.removedReason();
  if (removedReason !== null && removedAt === null && !cells.removed_date)
    reader.addFault('removed_date', 'required', 'is required with removed_reason', 'removed_reason');
  const line: Line = {
    email,
    registeredEmail: 'registered_email' in cells ? reader.registeredEmail() : email,
    phone,
    keys,
    firstName: reader.text('first_name', nameFault),
    lastName: reader.text('last_name', nameFault),
    joinOrder: reader.number('join_order'),
    createdAt: reader.time('created_at'),
    verified: reader.flag('verified'),
    referralToken: reader.token('referral_token'),
    referredByToken: reader.token('referred_by'),
    amountReferred: reader.number('amount_referred') ?? 0,
    credit: reader.credit(),
    creditReasons: reader.creditReasons(),
    spotsAdvanced: reader.number('spots_advanced') ?? 0,
    removedAt,
    removedPriority: removedAt && removedPriority,
    removedReason: removedAt && removedReason,
    joinedPriority: reader.number('joined_priority'),
    uuid: reader.uuid(),
    metadata: reader.metadata(kept),
    answers: reader.answers(),
  };
  return { line, faults: reader.faults, ignored: reader.ignored };
}

type FindFault = ReturnType<typeof textFault>;
const TEXT = { pattern: TEXT_PATTERN };
const emailFault = textFault(EMAIL_SCHEMA);
const phoneFault = textFault(PHONE_SCHEMA);
const nameFault = textFault({ ...TEXT, maxLength: NAME_LENGTH_MAX });
/** Of a question, an option or the reasons of a credit. */
const shortTextFault = textFault({ ...TEXT, maxLength: QUESTION_LENGTH_MAX, minLength: 1 });
const answerTextFault = textFault({ maxLength: ANSWER_LENGTH_MAX });
const UUID = new RegExp(UUID_PATTERN);
const JSON_SURROGATE = /(?<!\\)(?:\\\\)*\\ud[89a-f]/;

const NO_COLUMNS: ReadonlySet<Column> = new Set();

/** Reads cells, and collects their faults. A value with a fault is null. */
class CellReader {
  readonly faults: FieldFault[] = [];
  readonly ignored = new Map<Column, FieldFault>();

  constructor(
    private readonly cells: Cells,
    private readonly guessed = NO_COLUMNS,
  ) {}

  /** `source` is the column with the wrong value, if the fault names another. */
  addFault(column: Column, rule: Rule, message: string, source = column): null {
    return this.addFaults(column, { field: column, rule, message }, source);
  }

  /** Without a valid email or phone, the faults of the values that were left out count, and reject the line. */
  contact(region: string | null): Pick<Line, 'email' | 'phone' | 'keys'> {
    const email = this.text('email', emailFault);
    const phone = this.text('phone', phoneFault);
    const keys = contactKeys({ email, phone }, region);
    for (const fault of contactFaults({ email, phone }, keys, region)) this.addFaults(fault.field as Column, fault);
    if (keys.emailKey === null && keys.phoneKey === null) {
      this.faults.push(...this.ignored.values());
      if (this.faults.length === 0)
        this.faults.push({ field: 'email', rule: 'required', message: 'is required unless a phone is given' });
    }
    return { email: keys.emailKey && email, phone: keys.phoneKey && phone, keys };
  }

  text(column: Column, faultOf: FindFault): string | null {
    const text = nonBlank(this.cell(column));
    const found = text === null ? null : faultOf(text);
    return found ? this.addFaults(column, found) : text;
  }

  registeredEmail(): string | null {
    const email = this.text('registered_email', emailFault);
    return email !== null && emailKey(email) === null ? this.addFaults('registered_email', invalidEmail(email)) : email;
  }

  number(column: Column): number | null {
    const cell = this.cell(column).trim();
    if (cell === '') return null;
    if (!/^\d{1,20}$/.test(cell)) return this.addFault(column, 'type', 'must be a whole number');
    const number = Number(cell);
    return number > NUMBER_MAX ? this.addFault(column, 'maximum', `must be at most ${NUMBER_MAX}`) : number;
  }

  time(column: Column): Date | null {
    const cell = this.cell(column).trim();
    if (cell === '') return null;
    return (
      parseTime(cell) ??
      this.addFault(
        column,
        'format',
        'must be a time such as 2026-11-21, 2026-11-21 09:30 or 2026-11-21T09:30:00Z, from 1970 on',
      )
    );
  }

  flag(column: Column): boolean {
    const cell = this.cell(column).trim();
    if (/^(true|1)$/i.test(cell)) return true;
    if (!/^(false|0|)$/i.test(cell)) this.addFault(column, 'type', 'must be true or false');
    return false;
  }

  token(column: Column): string | null {
    const cell = this.cell(column).trim();
    if (cell === '') return null;
    if (isToken(cell)) return cell;
    const isEmail = cell.includes('@');
    return this.addFault(
      column,
      'format',
      isEmail ? 'must be a referral token, not an email address' : 'must have 6 to 32 of 0-9, A-Z, a-z, _ and -',
    );
  }

  credit(): Credit | null {
    return this.oneOf('credit', CREDITS);
  }

  removedReason(): RemovedReason | null {
    return this.oneOf('removed_reason', REMOVED_REASONS);
  }

  /** In the order of the reasons, each once. */
  creditReasons(): CreditReason[] {
    const cell = this.text('credit_reasons', shortTextFault) ?? '';
    const reasons = cell.split(',').map((reason) => reason.trim());
    const known = CREDIT_REASONS.filter((reason) => reasons.includes(reason));
    if (known.length < new Set(reasons.filter(Boolean)).size)
      this.addFault('credit_reasons', 'one_of', `must hold only ${CREDIT_REASONS.join(', ')}`);
    return this.ignored.has('credit_reasons') ? [] : known;
  }

  uuid(): string | null {
    const cell = this.cell('uuid').trim();
    if (cell === '') return null;
    return UUID.test(cell) ? cell.toLowerCase() : this.addFault('uuid', 'format', 'must be a UUID');
  }

  /** The object of the column `metadata`, with the kept values. */
  metadata(kept: Readonly<Record<string, string>> = {}): JsonObject | null {
    const value = this.json('metadata');
    const found = value === undefined ? null : metadataFault()(value);
    if (found) this.addFaults('metadata', found);
    const given = found || value === undefined ? null : (value as JsonObject);
    const entries = Object.entries(kept).filter(([, cell]) => cell.trim() !== '');
    if (entries.length === 0) return given;
    const all = { ...given, ...Object.fromEntries(entries.map(([name, cell]) => [name, unmarked(cell)])) };
    const fault = metadataFault()(all);
    if (fault) this.faults.push(...[fault].flat().map((each) => ({ ...each, field: 'metadata' })));
    return all;
  }

  /** From the column `answers`, which also has removed questions; if it is empty, from the columns of the pairs. */
  answers(): NamedAnswer[] {
    const value = this.json('answers');
    if (value === undefined) return this.cell('answers').trim() === '' ? this.pairs() : [];
    const items: readonly unknown[] = Array.isArray(value) ? value : [value];
    if (items.length > ANSWERS_MAX) this.addFault('answers', 'max_items', `must have at most ${ANSWERS_MAX} items`);
    return items.slice(0, ANSWERS_MAX).flatMap((item): NamedAnswer[] => {
      const { question_value, answer_value = null, optional, soft_deleted } = (item ?? {}) as Record<string, unknown>;
      const found = shortTextFault(question_value) ?? answerFault(answer_value);
      if (found) this.addFaults('answers', found);
      if (found) return [];
      const value = isBlank(answer_value) ? null : (answer_value as NamedAnswer['value']);
      return [
        { question: question_value as string, value, optional: optional !== false, removed: soft_deleted === true },
      ];
    });
  }

  /** From `question_1` and `answer_1` to `question_3` and `answer_3`. */
  private pairs(): NamedAnswer[] {
    return LIVE_QUESTIONS.flatMap((number): NamedAnswer[] => {
      const question = this.text(`question_${number}`, shortTextFault);
      const cell = this.cell(`answer_${number}`);
      if (question === null && cell !== '' && !this.cell(`question_${number}`))
        this.addFault(`question_${number}`, 'required', `is required with answer_${number}`, `answer_${number}`);
      if (question === null) return [];
      const value = listOf(cell) ?? cell;
      const found = answerFault(value);
      if (found) this.addFaults(`answer_${number}`, found);
      return [{ question, value: found || isBlank(value) ? null : value, optional: true, removed: false }];
    });
  }

  /** The value of a cell with JSON; undefined if the cell is empty or has a fault. */
  private json(column: 'metadata' | 'answers'): unknown {
    const cell = this.cell(column);
    if (cell.trim() === '') return undefined;
    const found = jsonFault(cell, JSON_LENGTH_MAX[column]);
    if (found) return void this.addFaults(column, found);
    let value: unknown;
    try {
      value = parse(cell);
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error;
      this.addFault(column, 'format', 'must be JSON');
      return undefined;
    }
    // JSON escapes a surrogate only if it is alone.
    if (!JSON_SURROGATE.test(JSON.stringify(value))) return value;
    this.addFault(column, 'characters', 'must not hold a lone surrogate');
    return undefined;
  }

  private oneOf<Word extends string>(column: Column, words: readonly Word[]): Word | null {
    const cell = this.cell(column).trim();
    if (cell === '') return null;
    return words.find((word) => word === cell) ?? this.addFault(column, 'one_of', `must be ${words.join(' or ')}`);
  }

  private cell(column: Column): string {
    return unmarked(this.cells[column] ?? '');
  }

  private addFaults(column: Column, found: FieldFault | readonly FieldFault[], source = column): null {
    for (const fault of [found].flat()) {
      if (this.guessed.has(source)) this.ignored.set(source, { ...fault, field: column });
      else this.faults.push({ ...fault, field: column });
    }
    return null;
  }
}

/** The cell without the mark that an export puts before what looks like a formula. */
function unmarked(cell: string): string {
  return MARKED_FORMULA.test(cell) ? cell.slice(1) : cell;
}

function isBlank(value: unknown): boolean {
  return value === null || value === '' || (Array.isArray(value) && value.length === 0);
}

/** Bounds a JSON text as that of a request, but before it is parsed: a line can have two megabytes of `[],`. */
function jsonFault(json: string, lengthMax: number): FieldFault | null {
  if (json.length > lengthMax) return broken('max_length', `must have at most ${lengthMax} characters`);
  let isText = false;
  let level = 0;
  let values = 0;
  for (let index = 0; index < json.length; index += 1) {
    const character = json[index] ?? '';
    if (isText && character === '\\') index += 1;
    if (character === '"') isText = !isText;
    if (isText) continue;
    if ('[{,'.includes(character)) values += 1;
    if ('[{'.includes(character)) level += 1;
    if (']}'.includes(character)) level -= 1;
    if (level > LEVELS_MAX) return broken('max_levels', `must have at most ${LEVELS_MAX} levels`);
    if (values > VALUES_MAX) return broken('max_values', `must hold at most ${VALUES_MAX} values`);
  }
  return null;
}

/** A JSON array of texts, or null. */
function listOf(cell: string): readonly string[] | null {
  if (!cell.startsWith('[') || jsonFault(cell, JSON_LENGTH_MAX.choices)) return null;
  try {
    const value: unknown = parse(cell);
    return Array.isArray(value) && value.every((item) => typeof item === 'string') ? value : null;
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
}

/** The rules of an answer that hold for every question. */
function answerFault(value: unknown): ReturnType<FindFault> {
  if (isBlank(value)) return null;
  if (Array.isArray(value)) {
    if (value.length > CHOICES_MAX) return broken('max_items', `must have at most ${CHOICES_MAX} items`);
    for (const choice of value) {
      const found = shortTextFault(choice);
      if (found) return found;
    }
    return new Set(value).size < value.length ? broken('unique', 'must not contain an option twice') : null;
  }
  const found = answerTextFault(value);
  if (found) return found;
  return (value as string).includes('\0') ? broken('characters', 'must not contain NUL') : null;
}
