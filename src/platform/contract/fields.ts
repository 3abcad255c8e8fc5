import { applyDecorators, Param, type Type as Class } from '@nestjs/common';
import { ApiParam, ApiProperty } from '@nestjs/swagger';
import { Exclude, Expose, Transform, type TransformFnParams, Type } from 'class-transformer';
import {
  Allow,
  ArrayMaxSize,
  ArrayMinSize,
  ArrayUnique,
  IsArray,
  IsBoolean,
  IsIn,
  IsInt,
  IsOptional,
  isObject,
  Max,
  Min,
  ValidateBy,
  ValidateIf,
  ValidateNested,
  type ValidationArguments,
} from 'class-validator';
import { Problem } from '../problems/problem.js';
import { COUNT_SCHEMA, HTTP_URL_RULE, ID_RULE, ID_SCHEMA, isHttpUrl, parseId, TEXT_PATTERN } from './formats.js';

/*
 * One decorator per field of a request. Its options make three things: the property in the OpenAPI document, the rule
 * that class-validator checks, and the notations that class-transformer accepts besides the documented type. So the
 * document cannot promise what the service does not check; test/contract/rules.spec.ts compares the two.
 */

interface FieldOptions {
  readonly description?: string;
  readonly example?: unknown;
  readonly default?: unknown;
  readonly optional?: boolean;
  readonly nullable?: boolean;
}
interface TextBounds {
  readonly minLength?: number;
  readonly maxLength: number;
  readonly pattern?: string;
}
interface TextOptions extends FieldOptions, TextBounds {
  /** Documentation only. */
  readonly format?: string;
}
interface NumberOptions extends FieldOptions {
  /** Accepts `"12"`: queries are text, and some clients send ids as text. */
  readonly numericString?: boolean;
}
interface ListOptions extends FieldOptions {
  readonly minItems?: number;
  readonly maxItems: number;
}

/** Text that may contain control characters. */
export function AnyText({ booleanAsText, ...options }: TextOptions & { readonly booleanAsText?: boolean }) {
  return field({ ...options, type: String }, [Holds('text', textFault(options))], booleanAsText && textOfBoolean);
}

/** Text without control characters. */
export function Text(options: TextOptions) {
  return AnyText({ pattern: TEXT_PATTERN, ...options });
}

export function PersonName(options: FieldOptions) {
  return Text({ maxLength: 100, ...options });
}

export const EMAIL_SCHEMA = {
  type: String,
  format: 'idn-email',
  maxLength: 254,
  pattern: TEXT_PATTERN,
  example: 'ada@example.com',
} as const;

interface PlusOptions extends FieldOptions {
  /** Accepts a plus sign that was not percent-encoded and so arrives as a space. */
  readonly unencodedPlus?: boolean;
}

/** Whether it is an address is up to the service: an empty text counts as none, and a waitlist may not ask for it. */
export function Email({ unencodedPlus, ...options }: PlusOptions) {
  return field({ ...EMAIL_SCHEMA, ...options }, [Holds('text', textFault(EMAIL_SCHEMA))], unencodedPlus && plusWithin);
}

export const PHONE_SCHEMA = {
  type: String,
  format: 'phone',
  maxLength: 32,
  pattern: TEXT_PATTERN,
  example: '+14155550123',
} as const;

/** Whether it is a phone number is up to the service, because it depends on the waitlist's region. */
export function Phone({ unencodedPlus, ...options }: PlusOptions) {
  return field({ ...PHONE_SCHEMA, ...options }, [Holds('text', textFault(PHONE_SCHEMA))], unencodedPlus && plusFirst);
}

export function HttpUrl(options: TextOptions) {
  const text = { format: 'http-url', pattern: TEXT_PATTERN, ...options };
  const urlFault = (value: unknown) => (isHttpUrl(value as string) ? undefined : HTTP_URL_RULE);
  return field({ ...text, type: String }, [Holds('text', textFault(text)), Holds('httpUrl', urlFault)]);
}

export function WholeNumber(options: NumberOptions & { readonly minimum: number; readonly maximum: number }) {
  return wholeNumber({ format: 'int32', ...options });
}

export function Id(options: NumberOptions) {
  return wholeNumber({ ...ID_SCHEMA, ...options });
}

export function Count(options: NumberOptions) {
  return wholeNumber({ ...COUNT_SCHEMA, ...options });
}

function wholeNumber({ numericString, ...options }: Parameters<typeof WholeNumber>[0] & { readonly format: string }) {
  const rules = [
    IsInt({ message: must('be a whole number') }),
    Min(options.minimum, { message: `must be at least ${options.minimum}` }),
    Max(options.maximum, { message: `must be at most ${options.maximum}` }),
  ];
  return field({ ...options, type: 'integer' }, rules, numericString && numberOfText);
}

/** `booleanString` accepts `true`, `True` and `1`, `false`, `False` and `0`: queries are text. */
export function Flag({ booleanString, ...options }: FieldOptions & { readonly booleanString?: boolean }) {
  const rules = [IsBoolean({ message: must('be true or false') })];
  return field({ ...options, type: Boolean }, rules, booleanString && booleanOfText);
}

/** A confirmation: nothing but true is accepted. */
export function Confirmation(options: FieldOptions) {
  return field({ ...options, type: Boolean, enum: [true] }, [IsIn([true], { message: must('be true') })]);
}

export function OneOf(options: FieldOptions & { readonly enum: readonly string[]; readonly enumName?: string }) {
  const message = must(`be ${options.enum.join(' or ')}`);
  return field({ ...options, enum: [...options.enum] }, [IsIn(options.enum, { message })]);
}

/** Different texts. */
export function TextList(options: ListOptions & { readonly items: TextBounds }) {
  const schema = { ...options, type: 'array', uniqueItems: true, items: { ...options.items, type: 'string' } };
  const isUnique = ArrayUnique({ message: 'must not contain an item twice' });
  return field(schema, [...listRules(options, textFault(options.items)), isUnique]);
}

export function Nested(dto: Class, options: FieldOptions) {
  return field({ ...options, type: dto }, [Holds('object', objectFault), ValidateNested()], undefined, dto);
}

export function NestedList(dto: Class, options: ListOptions) {
  // ValidateNested alone would take the items of a list within the list for items of this one.
  return field({ ...options, type: [dto] }, [...listRules(options, objectFault), ValidateNested()], undefined, dto);
}

const METADATA_BYTES_MAX = 16 * 1024;
/** The object itself is the first level. */
const METADATA_LEVELS_MAX = 8;
/** An escaped NUL in JSON: its backslash is not itself escaped. */
const JSON_NUL = /(?<!\\)(?:\\\\)*\\u0000/;

/** A JSON object of the caller's own, unchanged: at most 16 KiB of compact JSON and 8 levels, without NUL. */
export function Metadata(options: FieldOptions) {
  const schema = { ...options, type: 'object', additionalProperties: true };
  return field(schema, [Holds('object', objectFault), Holds('metadata', metadataFault), Unchanged()]);
}

/** Documented here and checked by a service, because the rule depends on the waitlist. */
export function CheckedByService(options: FieldOptions & { readonly type: [Class]; readonly maxItems: number }) {
  return field({ ...options }, [Allow(), Unchanged()]);
}

/** An id in the path. An operation that cannot be undone has no `example`, because `/docs` would fill it in. */
export function IdParam(name: string, example?: number): ParameterDecorator {
  return (target, method, index) => {
    Param(name, { transform: (text: string) => requireId(name, text) })(target, method, index);
    const descriptor = Object.getOwnPropertyDescriptor(target, method as string) as TypedPropertyDescriptor<unknown>;
    const schema = { name, schema: { ...ID_SCHEMA, example }, description: 'The id of the waitlist.' };
    ApiParam(schema)(target, method as string, descriptor);
  };
}

function requireId(field: string, text: string): number {
  const id = parseId(text);
  if (id === null) throw Problem.invalid([{ field, message: ID_RULE }]);
  return id;
}

type Reader = (value: unknown) => unknown;

function field(
  { optional = false, ...schema }: FieldOptions & Readonly<Record<string, unknown>>,
  rules: readonly PropertyDecorator[],
  read?: Reader | false,
  type: Class = Opaque,
): PropertyDecorator {
  return applyDecorators(
    ApiProperty({ ...schema, required: !optional }),
    Expose(),
    Type(() => type),
    ...(read ? [Transform(({ value }: TransformFnParams) => read(value))] : []),
    ...presence(optional, schema.nullable ?? false),
    ...rules,
  );
}

/** `IsOptional` allows null as well as undefined. */
function presence(optional: boolean, nullable: boolean): PropertyDecorator[] {
  if (optional && nullable) return [IsOptional()];
  if (optional) return [ValidateIf((_, value) => value !== undefined)];
  return nullable ? [ValidateIf((_, value) => value !== null)] : [];
}

/**
 * The type of everything that is not a DTO: without one, class-transformer copies whatever object stands in place of a
 * scalar, which takes seconds for an object of many keys.
 */
@Exclude()
class Opaque {}

function Unchanged(): PropertyDecorator {
  return Transform(({ obj, key }: TransformFnParams) => (obj as Record<string, unknown>)[key]);
}

/* What the notations do not recognize stays as it is, for the rule to reject. */

const numberOfText: Reader = (value) =>
  typeof value === 'string' && /^-?\d{1,16}$/.test(value) ? Number(value) : value;

const booleanOfText: Reader = (value) => {
  if (typeof value !== 'string') return value;
  return /^(true|1)$/i.test(value) ? true : /^(false|0)$/i.test(value) ? false : value;
};

const textOfBoolean: Reader = (value) => (typeof value === 'boolean' ? String(value) : value);

const plusWithin: Reader = (value) => (typeof value === 'string' ? value.trim().replaceAll(' ', '+') : value);

const plusFirst: Reader = (value) => (typeof value === 'string' ? value.replace(/^ (?=\d)/, '+') : value);

/** Says which rule a value breaks, as the rest of a sentence that begins with the field; undefined if it breaks none. */
type FindFault = (value: unknown) => string | undefined;

function Holds(name: string, findFault: FindFault): PropertyDecorator {
  const faultOf: FindFault = (value) => (value === undefined ? 'is required' : findFault(value));
  const validate = (value: unknown) => faultOf(value) === undefined;
  return ValidateBy({ name, validator: { validate, defaultMessage: (broken) => faultOf(broken?.value) ?? '' } });
}

function must(rule: string) {
  return ({ value }: ValidationArguments) => (value === undefined ? 'is required' : `must ${rule}`);
}

const objectFault: FindFault = (value) => (isObject(value) ? undefined : 'must be a JSON object');

function textFault({ minLength = 0, maxLength, pattern }: TextBounds): FindFault {
  const expression = pattern === undefined ? undefined : new RegExp(pattern);
  return (value) => {
    if (typeof value !== 'string') return 'must be text';
    const length = countCharacters(value, maxLength);
    if (length > maxLength) return `must have at most ${maxLength} characters`;
    if (length < minLength) return minLength === 1 ? 'must not be empty' : `must have at least ${minLength} characters`;
    if (expression?.test(value) ?? true) return undefined;
    return pattern === TEXT_PATTERN ? 'must not contain control characters' : `must match ${pattern}`;
  };
}

/** Code points, as databases count them; `MaxLength` ignores variation selectors. Long text is not counted to its end. */
function countCharacters(text: string, max: number): number {
  return text.length <= max || text.length > 2 * max ? text.length : [...text].length;
}

/** The message about an item begins with its index, which `readRequest` moves to the path: `[0] must be text`. */
function listRules({ minItems = 0, maxItems }: ListOptions, itemFault: FindFault): PropertyDecorator[] {
  const itemsFault: FindFault = (value) => {
    const faults = (value as unknown[]).map(itemFault);
    const index = faults.findIndex((fault) => fault !== undefined);
    return index < 0 ? undefined : `[${index}] ${faults[index]}`;
  };
  return [
    IsArray({ message: must('be a list') }),
    ...(minItems > 0 ? [ArrayMinSize(minItems, { message: 'must not be empty' })] : []),
    ArrayMaxSize(maxItems, { message: `must have at most ${maxItems} items` }),
    Holds('items', itemsFault),
  ];
}

const metadataFault: FindFault = (value) => {
  if (countLevels(value) > METADATA_LEVELS_MAX) return `must have at most ${METADATA_LEVELS_MAX} levels`;
  const text = JSON.stringify(value);
  if (JSON_NUL.test(text)) return 'must not contain NUL';
  const isLarge = Buffer.byteLength(text) > METADATA_BYTES_MAX;
  return isLarge ? `must have at most ${METADATA_BYTES_MAX} bytes as compact JSON` : undefined;
};

/** Stops one level past the limit, so that depth cannot exhaust the stack. */
function countLevels(value: unknown, limit = METADATA_LEVELS_MAX + 1): number {
  if (typeof value !== 'object' || value === null || limit === 0) return 0;
  return 1 + Object.values(value).reduce<number>((most, item) => Math.max(most, countLevels(item, limit - 1)), 0);
}
