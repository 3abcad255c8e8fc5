import { Param } from '@nestjs/common';
import { ApiParam } from '@nestjs/swagger';
import { Problem } from '../problem.js';
import { ID_SCHEMA } from './schemas.js';

/** An id in the path: a whole number from 1 to 2^53 − 1. */
export function IdParam(name: string): ParameterDecorator {
  return (target, method, index) => {
    Param(name, { transform: (value: string) => parseId(name, value) })(target, method, index);
    const descriptor = Object.getOwnPropertyDescriptor(target, method as string) as TypedPropertyDescriptor<unknown>;
    ApiParam({ name, schema: ID_SCHEMA, description: 'The id of the waitlist.', example: 1 })(
      target,
      method as string,
      descriptor,
    );
  };
}

function parseId(name: string, value: string): number {
  const id = Number(value);
  if (/^[1-9]\d*$/.test(value) && Number.isSafeInteger(id)) return id;
  throw Problem.invalid([{ field: name, message: 'must be a whole number from 1 to 2^53 − 1' }]);
}
