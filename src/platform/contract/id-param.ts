import { Param } from '@nestjs/common';
import { ApiParam } from '@nestjs/swagger';
import { Problem } from '../problems/problem.js';
import { ID_SCHEMA } from './schemas.js';

/** An id in the path: a whole number from 1 to 2^53 − 1. What can't be undone has no `example` that is filled in. */
export function IdParam(name: string, example?: number): ParameterDecorator {
  return (target, method, index) => {
    Param(name, { transform: (value: string) => parseId(name, value) })(target, method, index);
    const descriptor = Object.getOwnPropertyDescriptor(target, method as string) as TypedPropertyDescriptor<unknown>;
    ApiParam({ name, schema: { ...ID_SCHEMA, example }, description: 'The id of the waitlist.' })(
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
