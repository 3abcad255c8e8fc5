import type { Type } from '@nestjs/common';
import { TransformationType } from 'class-transformer';
import { defaultMetadataStorage as notations } from 'class-transformer/cjs/storage.js';
import { getMetadataStorage, ValidationTypes } from 'class-validator';
import { type FieldFault, Problem } from '../problems/problem.js';

/** The DTOs in which an unknown field is a fault, with the fields of their responses that may be sent back. */
const strictDtos = new Map<object, ReadonlySet<string>>();

/** The fields of a request, which may be malformed. */
export type Values = Readonly<Record<string, unknown>>;

/** The faults of a value. Their paths are within the value: empty for the value itself, `[0]` for an item. */
export type Faults = FieldFault | readonly FieldFault[] | null;
export type Check<Value = unknown> = (value: Value, request: Values) => Faults;

/** A field as its decorators in `fields.ts` describe it to class-transformer and class-validator. */
interface Field {
  readonly name: string;
  readonly readers: readonly ((value: unknown, sent: Values) => unknown)[];
  /** The rules hold only for a value that meets all conditions. */
  readonly conditions: readonly ((request: Values, value: unknown) => boolean)[];
  readonly rules: readonly Check[];
}

const storage = getMetadataStorage();
const compiledDtos = new Map<Type, readonly Field[]>();

/** Stands in place of a value that breaks rules. Holds its faults, with their paths within the value. */
export class Malformed {
  constructor(readonly faults: readonly FieldFault[]) {}
}

/**
 * A DTO in which an unknown field is a fault, because a misspelled setting must not look saved. Clients may send back
 * the response's read-only fields: they are ignored.
 */
export function KnownFieldsOnly(...sentBack: readonly string[]): ClassDecorator {
  return (dto) => void strictDtos.set(dto, new Set(sentBack));
}

/** The names of the DTOs in which an unknown field is a fault. */
export function strictSchemas(): string[] {
  return Array.from(strictDtos.keys(), (dto) => (dto as Type).name);
}

/** The value as an instance of the DTO, held to the rules of its fields. @throws Problem `INVALID_REQUEST` */
export function readRequest<Dto extends object>(dto: Type<Dto>, value: unknown): Dto {
  const request = read(dto, value);
  if (request instanceof Malformed) throw Problem.invalid(requestFaults(request));
  return request;
}

/** The value as an instance of the DTO, or all its faults. */
export function read<Dto extends object>(dto: Type<Dto>, value: unknown): Dto | Malformed {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return new Malformed([{ field: '', rule: 'type', message: 'must be a JSON object' }]);
  const request = new dto();
  const [sent, values] = [value as Values, request as Record<string, unknown>];
  const fields = fieldsIn(dto);
  for (const { name, readers } of fields)
    if (sent[name] !== undefined)
      values[name] = readers.reduce<unknown>((read, reader) => reader(read, sent), sent[name]);
  const faults = [...unknownFields(dto, value), ...fields.flatMap((field) => faultsOf(field, values))];
  return faults.length > 0 ? new Malformed(faults) : request;
}

/** The faults of a whole request. A fault of the body itself gets the field `body`. */
export function requestFaults({ faults }: Malformed): FieldFault[] {
  return faults.map((fault) => (fault.field === '' ? { ...fault, field: 'body' } : fault));
}

/** The names of a DTO's fields. */
export function fieldsOf(dto: Type): ReadonlySet<string> {
  return new Set(fieldsIn(dto).map(({ name }) => name));
}

export function unknownField(field: string): FieldFault {
  return { field, rule: 'known', message: 'is unknown' };
}

/** Puts `parent` before the path of each fault: `[0].id` within `waiters` is `waiters[0].id`. */
export function within(parent: string, faults: readonly FieldFault[]): FieldFault[] {
  return faults.map(({ field, ...fault }) => ({ ...fault, field: join(parent, field) }));
}

function join(parent: string, field: string): string {
  return field === '' || field.startsWith('[') ? `${parent}${field}` : `${parent}.${field}`;
}

function unknownFields(dto: Type, value: object): FieldFault[] {
  const sentBack = strictDtos.get(dto);
  if (!sentBack) return [];
  const known = fieldsOf(dto);
  return Object.keys(value)
    .filter((name) => !known.has(name) && !sentBack.has(name))
    .map(unknownField);
}

/** Cached: gathering the metadata takes longer than reading a request. */
function fieldsIn(dto: Type): readonly Field[] {
  const fields = compiledDtos.get(dto) ?? compile(dto);
  compiledDtos.set(dto, fields);
  return fields;
}

function compile(dto: Type): Field[] {
  const type = TransformationType.PLAIN_TO_CLASS;
  const metadata = storage.getTargetValidationMetadatas(dto, '', false, false);
  return [...new Set(metadata.map(({ propertyName }) => propertyName))].map((name) => {
    const own = metadata.filter(({ propertyName }) => propertyName === name);
    const conditions = own.filter((rule) => rule.type === ValidationTypes.CONDITIONAL_VALIDATION);
    return {
      name,
      readers: notations.findTransformMetadatas(dto, name, type).map(
        ({ transformFn }) =>
          (value, obj) =>
            transformFn({ key: name, value, obj, type, options: {} }) as unknown,
      ),
      conditions: conditions.map(({ constraints }) => constraints[0] as Field['conditions'][number]),
      rules: own.flatMap(rulesOf),
    };
  });
}

type RuleMetadata = ReturnType<typeof storage.getTargetValidationMetadatas>[number];

/** `fields.ts` gives each rule the faults of a value that breaks it, as its context. */
function rulesOf({ constraintCls, constraints, context, propertyName: property }: RuleMetadata): Check[] {
  return storage.getTargetValidatorConstraints(constraintCls).map(({ instance }) => (value, object) => {
    const isValid = instance.validate(value, { value, object, constraints, property, targetName: '' });
    return isValid === true ? null : (context as Check)(value, object);
  });
}

/** The faults of the first rule that a field breaks. */
function faultsOf({ name, conditions, rules }: Field, request: Values): readonly FieldFault[] {
  const value = request[name];
  if (!conditions.every((isMet) => isMet(request, value))) return [];
  for (const check of rules) {
    const faults = check(value, request);
    if (faults) return within(name, [faults].flat());
  }
  return [];
}
