import type { Type } from '@nestjs/common';
import { plainToInstance } from 'class-transformer';
import { getMetadataStorage, type ValidationError, validateSync } from 'class-validator';
import { type FieldFault, Problem } from '../problems/problem.js';

/** Unknown fields are dropped without being read. */
const READING = { excludeExtraneousValues: true, exposeUnsetFields: false };
const CHECKING = { stopAtFirstError: true, validationError: { target: false, value: false } };
/** The DTOs in which an unknown field is a fault, with the fields of their responses that may be sent back. */
const strictDtos = new Map<object, ReadonlySet<string>>();

/** class-validator would gather the rules of a DTO for every request, from those of all DTOs. */
const storage = getMetadataStorage();
const gatherRules = storage.getTargetValidationMetadatas.bind(storage);
const rulesByDto = new Map<unknown, ReturnType<typeof gatherRules>>();
storage.getTargetValidationMetadatas = (dto, ...options) => {
  const rules = rulesByDto.get(dto) ?? gatherRules(dto, ...options);
  rulesByDto.set(dto, rules);
  return rules;
};

/** Stands in place of a value that breaks rules. Holds its faults, with their paths within the value. */
export class Malformed {
  constructor(readonly faults: readonly FieldFault[]) {}
}

/**
 * A DTO in which an unknown field is a fault, because a misspelled setting must not look saved. Clients may send back the
 * fields of the response that cannot be set: they are ignored.
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
  const request = plainToInstance(dto, value, READING);
  const faults = [...unknownFields(dto, value), ...validateSync(request, CHECKING).flatMap(faultsOf)];
  return faults.length > 0 ? new Malformed(faults) : request;
}

/** The faults of a whole request. A fault of the body itself gets the field `body`. */
export function requestFaults({ faults }: Malformed): FieldFault[] {
  return faults.map((fault) => (fault.field === '' ? { ...fault, field: 'body' } : fault));
}

/** The names of a DTO's fields. */
export function fieldsOf(dto: Type): ReadonlySet<string> {
  const rules = storage.getTargetValidationMetadatas(dto, '', false, false);
  return new Set(rules.map(({ propertyName }) => propertyName));
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

/** The messages of `fields.ts` are faults as JSON. */
function faultsOf({ property, constraints = {} }: ValidationError): FieldFault[] {
  return Object.values(constraints).flatMap((json) => within(property, JSON.parse(json) as FieldFault[]));
}
