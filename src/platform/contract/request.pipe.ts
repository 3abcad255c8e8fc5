import type { ArgumentMetadata, PipeTransform, Type } from '@nestjs/common';
import { plainToInstance } from 'class-transformer';
import { type ValidationError, validateSync } from 'class-validator';
import { type FieldFault, Problem } from '../problems/problem.js';

/** Unknown fields are dropped without being read. */
const READING = { excludeExtraneousValues: true, exposeUnsetFields: false };
const CHECKING = { stopAtFirstError: true, validationError: { target: false, value: false } };

/**
 * Reads bodies and queries as the DTO that the handler declares. Nest's ValidationPipe would change data: it deletes
 * `constructor` and `prototype` keys from metadata, reads a null body as an empty object, and converts path parameters
 * before their own pipe runs (`1e3` becomes 1000). See docs/decisions/validation.md.
 */
export class RequestPipe implements PipeTransform {
  transform(value: unknown, { type, metatype }: ArgumentMetadata): unknown {
    const isRequest = (type === 'body' || type === 'query') && metatype !== undefined && metatype !== Object;
    return isRequest ? readRequest(metatype as Type<object>, value) : value;
  }
}

/** The value as an instance of the DTO, held to the rules of its fields. @throws Problem `INVALID_REQUEST` */
export function readRequest<Dto extends object>(dto: Type<Dto>, value: unknown): Dto {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw Problem.invalid([{ field: 'body', rule: 'type', message: 'must be a JSON object' }]);
  const request = plainToInstance(dto, value, READING);
  const faults = faultsOf(validateSync(request, CHECKING));
  if (faults.length > 0) throw Problem.invalid(faults);
  return request;
}

function faultsOf(errors: readonly ValidationError[], parent = ''): FieldFault[] {
  return errors.flatMap(({ property, constraints = {}, children = [] }) => {
    const field = /^\d+$/.test(property) ? `${parent}[${property}]` : [parent, property].filter(Boolean).join('.');
    return [...Object.values(constraints).map((json) => faultOf(field, json)), ...faultsOf(children, field)];
  });
}

/** The messages of `fields.ts` are faults as JSON, their paths within the field. */
function faultOf(field: string, json: string): FieldFault {
  const fault = JSON.parse(json) as FieldFault;
  return { ...fault, field: `${field}${fault.field}` };
}
