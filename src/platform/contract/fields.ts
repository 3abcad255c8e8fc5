import { applyDecorators, Param, type Type as Class } from '@nestjs/common';
import { ApiParam, ApiProperty } from '@nestjs/swagger';
import { Transform, type TransformFnParams } from 'class-transformer';
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
  Max,
  Min,
  ValidateBy,
  ValidateIf,
  type ValidationArguments,
} from 'class-validator';
import type { FieldFault } from '../problems/problem.js';
import type { Rule } from '../problems/rule.js';
import {
  COUNT_SCHEMA,
  DAY_SCHEMA,
  EMAIL_SCHEMA,
  HTTP_URL_RULE,
  ID_RULE,
  ID_SCHEMA,
  isDay,
  isHttpUrl,
  isUuid,
  LINES_PATTERN,
  parseId,
  parseZonedTime,
  PHONE_SCHEMA,
  TEXT_PATTERN,
  TIME_RULE,
  TIME_SCHEMA,
  UUID_PATTERN,
  UUID_SCHEMA,
} from './formats.js';
import { emailKey, invalidEmail } from './email.js';
import { isPhoneAnywhere, phoneRule } from './phone.js';
import { type Check, type Faults, Malformed, read, type Values, within } from './request.js';
import type { PathPipe } from './request.guard.js';

/*
 * One decorator per field of a request. Its options make three things: the property in the OpenAPI document, the rule
 * that class-validator checks, and the notations that class-transformer accepts besides the documented type. So the
 * document cannot promise what the service does not check; test/contract/rules.spec.ts compares the two.
 */

export interface FieldOptions {
  readonly description?: string;
  readonly example?: unknown;
  /** Makes the field optional and documents its default; the DTO or a service sets it. */
  readonly default?: unknown;
  readonly optional?: boolean;
  readonly nullable?: boolean;
  /** Makes the field optional if another field, with one of these names, is given. */
  readonly unless?: readonly string[];
  /** Accepts other notations of queries and existing clients: `"12"`, `True`, a space for an unencoded plus sign. */
  readonly lenient?: boolean;
  /** Leaves the field out of the document. */
  readonly isHidden?: boolean;
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
interface NumberBounds {
  readonly format?: string;
  readonly minimum: number;
  readonly maximum: number;
}
interface NumberOptions extends FieldOptions, NumberBounds {}
interface KeyOptions {
  readonly isKey: (text: string) => boolean;
  readonly message: string;
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

/** Text that may have several lines. CRLF, as browsers send in forms, becomes LF. */
export function Lines(options: TextOptions) {
  return applyDecorators(Reads(withLineFeeds), AnyText({ pattern: LINES_PATTERN, ...options }));
}

/** Has no example, because `/docs` would prefill it. */
export function Uuid(options: FieldOptions) {
  return Text({ ...UUID_SCHEMA, example: undefined, pattern: UUID_PATTERN, ...options });
}

/** Characters of a first or last name. */
export const NAME_LENGTH_MAX = 100;

export function PersonName(options: FieldOptions) {
  return Text({ maxLength: NAME_LENGTH_MAX, ...options });
}

/** An address. Blank text counts as none. */
export function Email(options: FieldOptions) {
  const isNeeded = !options.optional && !options.nullable && !options.unless;
  const addressFault = (value: string) => {
    if (value.trim() === '') return isNeeded ? broken('required', 'is required') : null;
    return emailKey(value) === null ? invalidEmail(value) : null;
  };
  return applyDecorators(text({ ...EMAIL_SCHEMA, ...options }, plusOfSpaces), Holds('address', addressFault));
}

/** A phone number of any region, or blank text, which counts as none. A service checks the region. */
export function Phone(options: FieldOptions) {
  const numberFault = (value: string) =>
    value.trim() === '' || isPhoneAnywhere(value) ? null : broken('format', phoneRule(null));
  return applyDecorators(text({ ...PHONE_SCHEMA, ...options }, plusOfFirstSpace), Holds('number', numberFault));
}

export function HttpUrl(options: TextOptions) {
  const urlFault = (value: string) => (isHttpUrl(value) ? null : broken('format', HTTP_URL_RULE));
  return applyDecorators(Text({ format: 'http-url', ...options }), Holds('httpUrl', urlFault));
}

/** A moment in ISO 8601. Its zone may be another than UTC, because some clients send their own. */
export function Time(options: FieldOptions) {
  const timeFault = (value: string) => (parseZonedTime(value) === null ? broken('format', TIME_RULE) : null);
  return applyDecorators(Text({ ...TIME_SCHEMA, ...options }), Holds('time', timeFault));
}

export function FutureTime(options: FieldOptions) {
  const pastFault = (value: string) =>
    (parseZonedTime(value)?.getTime() ?? 0) > Date.now() ? null : broken('minimum', 'must be in the future');
  return applyDecorators(Time(options), Holds('future', pastFault));
}

/** A day such as `2026-11-22`. */
export function Day(options: FieldOptions) {
  const dayFault = (value: unknown) =>
    typeof value === 'string' && isDay(value) ? null : broken('format', 'must be a day such as 2026-11-22');
  return field({ ...DAY_SCHEMA, ...options, type: String }, [Holds('day', dayFault)]);
}

export function WholeNumber(options: NumberOptions) {
  const rules = [
    IsInt(withFault('type', 'must be a whole number')),
    Min(options.minimum, withFault('minimum', `must be at least ${options.minimum}`)),
    Max(options.maximum, withFault('maximum', `must be at most ${options.maximum}`)),
  ];
  return field({ format: 'int32', ...options, type: 'integer' }, rules, numberOfText);
}

export function Id(options: FieldOptions) {
  return WholeNumber({ ...ID_SCHEMA, ...options });
}

/** An id, in digits too, or text that `isKey` accepts. The document has the id alone: clients get a plain type. */
export function IdOrKey({ isKey, message, ...options }: FieldOptions & KeyOptions) {
  const nameFault = (value: unknown) => {
    if (typeof value === 'string') return isKey(value) ? null : broken('format', message);
    return idFault(value);
  };
  const schema = { ...ID_SCHEMA, ...options, lenient: true };
  return field(schema, [Holds('idOrKey', nameFault)], numberOfText);
}

export function Count(options: FieldOptions) {
  return WholeNumber({ ...COUNT_SCHEMA, ...options });
}

export function Flag(options: FieldOptions) {
  const rules = [IsBoolean(withFault('type', 'must be true or false'))];
  return field({ ...options, type: Boolean }, rules, booleanOfText);
}

/** A confirmation: nothing but true is accepted. */
export function Confirmation(options: FieldOptions) {
  return field({ ...options, type: Boolean, enum: [true] }, [IsIn([true], withFault('one_of', 'must be true'))]);
}

export function OneOf(options: FieldOptions & { readonly enum: readonly string[]; readonly enumName?: string }) {
  const rule = IsIn(options.enum, withFault('one_of', `must be ${options.enum.join(' or ')}`));
  return field({ ...options, enum: [...options.enum] }, [rule]);
}

const ITEM_TWICE = withFault('unique', 'must not contain an item twice');

/** Different texts. */
export function TextList(options: ListOptions & { readonly items: TextBounds }) {
  const schema = { ...options, type: 'array', uniqueItems: true, items: { ...options.items, type: 'string' } };
  return field(schema, [...listRules(options, textFault(options.items)), ArrayUnique(ITEM_TWICE)]);
}

/** Different ids. */
export function IdList(options: ListOptions) {
  return NumberList({ ...options, items: ID_SCHEMA });
}

/** Different whole numbers. */
export function NumberList(options: ListOptions & { readonly items: NumberBounds }) {
  const schema = {
    ...options,
    type: 'array',
    uniqueItems: true,
    items: { format: 'int32', ...options.items, type: 'integer' },
  };
  return field(schema, [...listRules(options, numberFault(options.items)), ArrayUnique(ITEM_TWICE)]);
}

/** Different words of a set. */
export function OneOfList(options: ListOptions & { readonly enum: readonly string[]; readonly enumName?: string }) {
  const wordFault = (value: unknown) =>
    options.enum.includes(value as string) ? null : broken('one_of', `must be ${options.enum.join(' or ')}`);
  const schema = { ...options, enum: [...options.enum], isArray: true, uniqueItems: true };
  return field(schema, [...listRules(options, wordFault), ArrayUnique(ITEM_TWICE)]);
}

/** An object of texts of one or several lines under known keys. */
export function Texts({
  keys,
  maxLength,
  ...options
}: FieldOptions & TextBounds & { readonly keys: readonly string[] }) {
  const additionalProperties = { type: 'string', maxLength, pattern: LINES_PATTERN };
  const schema = { ...options, type: 'object', maxProperties: keys.length, additionalProperties };
  const faultOf = textFault({ maxLength, pattern: LINES_PATTERN });
  const faultsOf = (value: unknown) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value))
      return broken('type', 'must be a JSON object');
    return Object.entries(value).flatMap(([key, text]) =>
      within(key, keys.includes(key) ? [faultOf(text) ?? []].flat() : [broken('known', 'is unknown')]),
    );
  };
  const readTexts = (value: unknown) =>
    typeof value === 'object' && value !== null && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value).map(([key, text]) => [key, withLineFeeds(text)]))
      : value;
  return field(schema, [Reads(readTexts), Holds('texts', faultsOf)]);
}

export function Nested(dto: Class<object>, options: FieldOptions) {
  const readValue = (value: unknown) => (value === null ? null : read(dto, value));
  return field({ ...options, type: dto }, [Reads(readValue), Holds('nested', nestedFaults)]);
}

export function NestedList(dto: Class<object>, options: ListOptions) {
  // Of a list that is too long, no item is read.
  const readItems = (value: unknown) =>
    Array.isArray(value) && value.length <= options.maxItems ? value.map((item: unknown) => read(dto, item)) : value;
  return field({ ...options, type: [dto] }, [Reads(readItems), ...listRules(options, nestedFaults)]);
}

export const METADATA_BYTES_MAX = 16 * 1024;
/** The object itself is the first level. */
const METADATA_LEVELS_MAX = 8;
/** An escaped NUL in JSON: its backslash is not itself escaped. */
const JSON_NUL = /(?<!\\)(?:\\\\)*\\u0000/;

/** A JSON object of the caller's own, unchanged: at most 16 KiB of compact JSON and 8 levels, without NUL. */
export function Metadata({ maxBytes = METADATA_BYTES_MAX, ...options }: FieldOptions & { readonly maxBytes?: number }) {
  const schema = { ...options, type: 'object', additionalProperties: true };
  return field(schema, [Holds('metadata', metadataFault(maxBytes))]);
}

/** Documented here and checked by a service, because the rule depends on the waitlist or on other fields. */
export function CheckedByService(options: FieldOptions & { readonly type?: [Class]; readonly maxItems?: number }) {
  return field({ ...options }, [Allow()]);
}

/** An id in the path. An operation that cannot be undone has no `example`, because `/docs` would prefill it. */
export function IdParam(name: string, example?: number, description = 'The id of the waitlist.'): ParameterDecorator {
  const faultOf = (text: string) => (parseId(text) === null ? broken('format', ID_RULE, name) : null);
  return pathParam(name, { faultOf, transform: Number }, { ...ID_SCHEMA, example }, description);
}

/** A uuid in the path. It has no example, because `/docs` would prefill it. */
export function UuidParam(name: string, description: string): ParameterDecorator {
  const faultOf = (text: string) => (isUuid(text) ? null : broken('format', 'must be a uuid', name));
  const schema = { ...UUID_SCHEMA, type: 'string', pattern: UUID_PATTERN, example: undefined };
  return pathParam(name, { faultOf, transform: (text) => text.toLowerCase() }, schema, description);
}

function pathParam(name: string, pipe: PathPipe, schema: object, description: string): ParameterDecorator {
  return (target, method, index) => {
    Param(name, pipe)(target, method, index);
    const descriptor = Object.getOwnPropertyDescriptor(target, method as string) as TypedPropertyDescriptor<unknown>;
    ApiParam({ name, schema, description })(target, method as string, descriptor);
  };
}

type Reader = (value: unknown) => unknown;

function text(options: TextOptions & { readonly type?: Class }, read: Reader) {
  return field({ type: String, ...options }, [Holds('text', textFault(options))], read);
}

function field(
  { lenient, optional: isOptional, unless, isHidden, ...schema }: FieldOptions & Readonly<Record<string, unknown>>,
  rules: readonly PropertyDecorator[],
  readNotation?: Reader,
) {
  const optional = isOptional ?? (unless !== undefined || schema.default !== undefined);
  // IsOptional would skip null as well as undefined.
  const isSkipped = (value: unknown, request: Values) =>
    (optional && value === undefined && (!unless || isOneGiven(request, unless))) ||
    (schema.nullable && value === null);
  return applyDecorators(
    ...(isHidden ? [] : [ApiProperty({ ...schema, required: !optional })]),
    ...(lenient && readNotation ? [Reads(readNotation)] : []),
    ...(optional || schema.nullable ? [ValidateIf((request: Values, value) => !isSkipped(value, request))] : []),
    ...(unless ? [NeededUnless(unless)] : []),
    ...(optional ? [] : [IsDefined(withFault('required', 'is required'))]),
    ...rules,
  );
}

function Reads(reader: Reader): PropertyDecorator {
  return Transform(({ value }: TransformFnParams) => reader(value));
}

function isAbsent(value: unknown): value is null | undefined {
  return value === undefined || value === null;
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

const withLineFeeds: Reader = (value) => (typeof value === 'string' ? value.replaceAll(/\r\n?/g, '\n') : value);

const plusOfFirstSpace: Reader = (value) => (typeof value === 'string' ? value.replace(/^ (?=\d)/, '+') : value);

type FindFaults = (value: unknown) => Faults;

/** A fault of the value itself, or of the path `field` within it. */
export function broken(rule: Rule, message: string, field = ''): FieldFault {
  return { field, rule, message };
}

/** Options of a class-validator rule. Its context finds the faults of a value that breaks it; `request.ts` calls it. */
function withFault(rule: Rule, message: string): { readonly context: Check } {
  return { context: () => broken(rule, message) };
}

/**
 * One more rule of a field, checked if the others hold. It stands above the field's decorator: the lowest is first.
 * `check` also gets the request. Its other fields may be malformed.
 */
export function Holds<Value>(name: string, check: Check<Value>): PropertyDecorator {
  const validate = (value: unknown, { object }: ValidationArguments) => {
    const faults = check(value as Value, object as Values);
    return faults === null || [faults].flat().length === 0;
  };
  return ValidateBy({ name, validator: { validate } }, { context: check });
}

/** A field that has no meaning beside `other`. Generated clients send `unset`, its default value, all the same. */
export function NotWith(other: string, unset?: unknown): PropertyDecorator {
  return Holds('notWith', (value, request) =>
    value === unset || request[other] === undefined ? null : broken('one_of', `must not be given with ${other}`),
  );
}

function NeededUnless(others: readonly string[]): PropertyDecorator {
  return Holds('neededUnless', (value, request) =>
    !isBlank(value) || isOneGiven(request, others)
      ? null
      : broken('required', `is required unless a ${others.join(' or ')} is given`),
  );
}

function isOneGiven(request: Values, names: readonly string[]): boolean {
  return names.some((name) => !isBlank(request[name]));
}

function isBlank(value: unknown): boolean {
  return isAbsent(value) || (typeof value === 'string' && value.trim() === '');
}

/** The faults of the result of `read`. */
const nestedFaults: FindFaults = (value) => {
  if (value instanceof Malformed) return value.faults;
  return isAbsent(value) ? broken('type', 'must be a JSON object') : null;
};

export function textFault({ minLength = 0, maxLength, pattern }: TextBounds): FindFaults {
  const expression = pattern === undefined ? undefined : new RegExp(pattern);
  return (value) => {
    if (typeof value !== 'string') return broken('type', 'must be text');
    const length = countCharacters(value, minLength, maxLength);
    if (length > maxLength) return broken('max_length', `must have at most ${maxLength} characters`);
    if (length < minLength)
      return broken('min_length', minLength === 1 ? 'must not be empty' : `must have at least ${minLength} characters`);
    if (expression?.test(value) ?? true) return null;
    return pattern === TEXT_PATTERN || pattern === LINES_PATTERN
      ? broken('characters', 'must not contain control characters')
      : broken('format', `must match ${pattern}`);
  };
}

/** Code points, as in databases; `MaxLength` ignores variation selectors. Long text is not counted to its end. */
function countCharacters(text: string, min: number, max: number): number {
  // A code point has one code unit or two.
  const isDecided = (text.length >= 2 * min && text.length <= max) || text.length > 2 * max;
  return isDecided ? text.length : [...text].length;
}

const numberFault =
  ({ minimum, maximum }: NumberBounds): FindFaults =>
  (value) => {
    if (typeof value !== 'number' || !Number.isInteger(value)) return broken('type', 'must be a whole number');
    if (value < minimum) return broken('minimum', `must be at least ${minimum}`);
    return value > maximum ? broken('maximum', `must be at most ${maximum}`) : null;
  };

const idFault = numberFault(ID_SCHEMA);

function listRules({ minItems = 0, maxItems }: ListOptions, itemFaults: FindFaults): PropertyDecorator[] {
  const allFaults = (items: readonly unknown[]) =>
    items.flatMap((item, index) => within(`[${index}]`, [itemFaults(item) ?? []].flat()));
  return [
    IsArray(withFault('type', 'must be a list')),
    ...(minItems > 0 ? [ArrayMinSize(minItems, withFault('min_items', 'must not be empty'))] : []),
    ArrayMaxSize(maxItems, withFault('max_items', `must have at most ${maxItems} items`)),
    Holds('items', allFaults),
  ];
}

export const metadataFault =
  (maxBytes = METADATA_BYTES_MAX): FindFaults =>
  (value) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value))
      return broken('type', 'must be a JSON object');
    if (countLevels(value) > METADATA_LEVELS_MAX)
      return broken('max_levels', `must have at most ${METADATA_LEVELS_MAX} levels`);
    const text = JSON.stringify(value);
    if (JSON_NUL.test(text)) return broken('characters', 'must not contain NUL');
    const isLarge = Buffer.byteLength(text) > maxBytes;
    return isLarge ? broken('max_bytes', `must have at most ${maxBytes} bytes as compact JSON`) : null;
  };

/** Stops one level past the limit, so that depth cannot exhaust the stack. */
function countLevels(value: unknown, limit = METADATA_LEVELS_MAX + 1): number {
  if (typeof value !== 'object' || value === null || limit === 0) return 0;
  return 1 + Object.values(value).reduce<number>((most, item) => Math.max(most, countLevels(item, limit - 1)), 0);
}
