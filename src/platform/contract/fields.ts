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
  IsDefined,
  IsIn,
  IsInt,
  IsObject,
  isObject,
  Max,
  Min,
  ValidateBy,
  ValidateIf,
  ValidateNested,
} from 'class-validator';
import { type FieldFault, Problem } from '../problems/problem.js';
import type { Rule } from '../problems/rule.js';
import {
  COUNT_SCHEMA,
  EMAIL_SCHEMA,
  HTTP_URL_RULE,
  ID_RULE,
  ID_SCHEMA,
  isHttpUrl,
  parseId,
  PHONE_SCHEMA,
  TEXT_PATTERN,
} from './formats.js';

/*
 * One decorator per field of a request. Its options make three things: the property in the OpenAPI document, the rule
 * that class-validator checks, and the notations that class-transformer accepts besides the documented type. So the
 * document cannot promise what the service does not check; test/contract/rules.spec.ts compares the two.
 */

interface FieldOptions {
  readonly description?: string;
  readonly example?: unknown;
  /** Makes the field optional and documents its default; the DTO or a service sets it. */
  readonly default?: unknown;
  readonly optional?: boolean;
  readonly nullable?: boolean;
  /** Accepts other notations of queries and existing clients: `"12"`, `True`, a space for an unencoded plus sign. */
  readonly lenient?: boolean;
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
  readonly format?: string;
  readonly minimum: number;
  readonly maximum: number;
}
interface ListOptions extends FieldOptions {
  readonly minItems?: number;
  readonly maxItems: number;
}

/** Text that may contain control characters. */
export function AnyText(options: TextOptions) {
  return text(options, textOfBoolean);
}

/** Text without control characters. */
export function Text(options: TextOptions) {
  return AnyText({ pattern: TEXT_PATTERN, ...options });
}

export function PersonName(options: FieldOptions) {
  return Text({ maxLength: 100, ...options });
}

/** The service checks the address itself: an empty text counts as none, and a waitlist may not collect emails. */
export function Email(options: FieldOptions) {
  return text({ ...EMAIL_SCHEMA, ...options }, plusOfSpaces);
}

/** The service checks the number itself, because that depends on the waitlist's region. */
export function Phone(options: FieldOptions) {
  return text({ ...PHONE_SCHEMA, ...options }, plusOfFirstSpace);
}

export function HttpUrl(options: TextOptions) {
  const urlFault = (value: unknown) => (isHttpUrl(value as string) ? undefined : broken('format', HTTP_URL_RULE));
  return applyDecorators(Text({ format: 'http-url', ...options }), Holds('httpUrl', urlFault));
}

export function WholeNumber(options: NumberOptions) {
  const rules = [
    IsInt(words('type', 'must be a whole number')),
    Min(options.minimum, words('minimum', `must be at least ${options.minimum}`)),
    Max(options.maximum, words('maximum', `must be at most ${options.maximum}`)),
  ];
  return field({ format: 'int32', ...options, type: 'integer' }, rules, { read: numberOfText });
}

export function Id(options: FieldOptions) {
  return WholeNumber({ ...ID_SCHEMA, ...options });
}

export function Count(options: FieldOptions) {
  return WholeNumber({ ...COUNT_SCHEMA, ...options });
}

export function Flag(options: FieldOptions) {
  const rules = [IsBoolean(words('type', 'must be true or false'))];
  return field({ ...options, type: Boolean }, rules, { read: booleanOfText });
}

/** A confirmation: nothing but true is accepted. */
export function Confirmation(options: FieldOptions) {
  return field({ ...options, type: Boolean, enum: [true] }, [IsIn([true], words('one_of', 'must be true'))]);
}

export function OneOf(options: FieldOptions & { readonly enum: readonly string[]; readonly enumName?: string }) {
  const rule = IsIn(options.enum, words('one_of', `must be ${options.enum.join(' or ')}`));
  return field({ ...options, enum: [...options.enum] }, [rule]);
}

/** Different texts. */
export function TextList(options: ListOptions & { readonly items: TextBounds }) {
  const schema = { ...options, type: 'array', uniqueItems: true, items: { ...options.items, type: 'string' } };
  const isUnique = ArrayUnique(words('unique', 'must not contain an item twice'));
  return field(schema, [...listRules(options, textFault(options.items)), isUnique]);
}

export function Nested(dto: Class, options: FieldOptions) {
  return field({ ...options, type: dto }, [IsObject(words('type', OBJECT_RULE)), ValidateNested()], { type: dto });
}

export function NestedList(dto: Class, options: ListOptions) {
  // ValidateNested alone would take the items of a list within the list for items of this one.
  const itemFault = (item: unknown) => (isObject(item) ? undefined : broken('type', OBJECT_RULE));
  return field({ ...options, type: [dto] }, [...listRules(options, itemFault), ValidateNested()], { type: dto });
}

const METADATA_BYTES_MAX = 16 * 1024;
/** The object itself is the first level. */
const METADATA_LEVELS_MAX = 8;
/** An escaped NUL in JSON: its backslash is not itself escaped. */
const JSON_NUL = /(?<!\\)(?:\\\\)*\\u0000/;

/** A JSON object of the caller's own, unchanged: at most 16 KiB of compact JSON and 8 levels, without NUL. */
export function Metadata(options: FieldOptions) {
  const schema = { ...options, type: 'object', additionalProperties: true };
  return field(schema, [IsObject(words('type', OBJECT_RULE)), Holds('metadata', metadataFault), Unchanged()]);
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
  if (id === null) throw Problem.invalid([{ field, rule: 'format', message: ID_RULE }]);
  return id;
}

type Reader = (value: unknown) => unknown;

function text(options: TextOptions & { readonly type?: Class }, read: Reader) {
  return field({ type: String, ...options }, [Holds('text', textFault(options))], { read });
}

function field(
  { lenient, optional: isOptional, ...schema }: FieldOptions & Readonly<Record<string, unknown>>,
  rules: readonly PropertyDecorator[],
  { read, type = Opaque }: { readonly read?: Reader; readonly type?: Class } = {},
) {
  const optional = isOptional ?? schema.default !== undefined;
  // IsOptional would skip null as well as undefined.
  const isAbsent = (value: unknown) => (optional && value === undefined) || (schema.nullable && value === null);
  return applyDecorators(
    ApiProperty({ ...schema, required: !optional }),
    Expose(),
    Type(() => type),
    ...(lenient && read ? [Transform(({ value }: TransformFnParams) => read(value))] : []),
    ...(optional || schema.nullable ? [ValidateIf((_, value) => !isAbsent(value))] : []),
    ...(optional ? [] : [IsDefined(words('required', 'is required'))]),
    ...rules,
  );
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

/* A reader leaves what it does not recognize as it is, for the rule to reject. */

const numberOfText: Reader = (value) =>
  typeof value === 'string' && /^-?\d{1,16}$/.test(value) ? Number(value) : value;

const booleanOfText: Reader = (value) => {
  if (typeof value !== 'string') return value;
  return /^(true|1)$/i.test(value) ? true : /^(false|0)$/i.test(value) ? false : value;
};

const textOfBoolean: Reader = (value) => (typeof value === 'boolean' ? String(value) : value);

const plusOfSpaces: Reader = (value) => (typeof value === 'string' ? value.trim().replaceAll(' ', '+') : value);

const plusOfFirstSpace: Reader = (value) => (typeof value === 'string' ? value.replace(/^ (?=\d)/, '+') : value);

/** A fault of a value. `field` is the path within the value: empty for the value itself, `[0]` for an item. */
type FindFault = (value: unknown) => FieldFault | undefined;

function broken(rule: Rule, message: string, field = ''): FieldFault {
  return { field, rule, message };
}

/** A message of class-validator is only text, so it carries the fault as JSON; `readRequest` reads it. */
function words(rule: Rule, message: string): { readonly message: string } {
  return { message: JSON.stringify(broken(rule, message)) };
}

function Holds(name: string, findFault: FindFault): PropertyDecorator {
  const validate = (value: unknown) => findFault(value) === undefined;
  const defaultMessage = (failed?: { readonly value: unknown }) => JSON.stringify(findFault(failed?.value));
  return ValidateBy({ name, validator: { validate, defaultMessage } });
}

const OBJECT_RULE = 'must be a JSON object';

function textFault({ minLength = 0, maxLength, pattern }: TextBounds): FindFault {
  const expression = pattern === undefined ? undefined : new RegExp(pattern);
  return (value) => {
    if (typeof value !== 'string') return broken('type', 'must be text');
    const length = countCharacters(value, maxLength);
    if (length > maxLength) return broken('max_length', `must have at most ${maxLength} characters`);
    if (length < minLength)
      return broken('min_length', minLength === 1 ? 'must not be empty' : `must have at least ${minLength} characters`);
    if (expression?.test(value) ?? true) return undefined;
    return pattern === TEXT_PATTERN
      ? broken('characters', 'must not contain control characters')
      : broken('format', `must match ${pattern}`);
  };
}

/** Code points, as databases count them; `MaxLength` ignores variation selectors. Long text is not counted to its end. */
function countCharacters(text: string, max: number): number {
  return text.length <= max || text.length > 2 * max ? text.length : [...text].length;
}

function listRules({ minItems = 0, maxItems }: ListOptions, itemFault: FindFault): PropertyDecorator[] {
  const itemsFault: FindFault = (value) => {
    const faults = (value as unknown[]).map(itemFault);
    const index = faults.findIndex((fault) => fault !== undefined);
    const fault = faults[index];
    return fault && { ...fault, field: `[${index}]` };
  };
  return [
    IsArray(words('type', 'must be a list')),
    ...(minItems > 0 ? [ArrayMinSize(minItems, words('min_items', 'must not be empty'))] : []),
    ArrayMaxSize(maxItems, words('max_items', `must have at most ${maxItems} items`)),
    Holds('items', itemsFault),
  ];
}

const metadataFault: FindFault = (value) => {
  if (countLevels(value) > METADATA_LEVELS_MAX)
    return broken('max_levels', `must have at most ${METADATA_LEVELS_MAX} levels`);
  const text = JSON.stringify(value);
  if (JSON_NUL.test(text)) return broken('characters', 'must not contain NUL');
  const isLarge = Buffer.byteLength(text) > METADATA_BYTES_MAX;
  return isLarge ? broken('max_bytes', `must have at most ${METADATA_BYTES_MAX} bytes as compact JSON`) : undefined;
};

/** Stops one level past the limit, so that depth cannot exhaust the stack. */
function countLevels(value: unknown, limit = METADATA_LEVELS_MAX + 1): number {
  if (typeof value !== 'object' || value === null || limit === 0) return 0;
  return 1 + Object.values(value).reduce<number>((most, item) => Math.max(most, countLevels(item, limit - 1)), 0);
}
