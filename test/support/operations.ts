import type { OpenAPIObject } from '@nestjs/swagger';
import type { Api, Method } from './api.js';

interface Operation {
  readonly operationId: string;
  readonly security?: readonly object[];
  readonly parameters?: readonly {
    readonly name: string;
    readonly in: string;
    readonly schema: { example?: unknown };
  }[];
}

/** An operation of the contract, with a path and query that reach it. */
export interface CallableOperation {
  readonly method: Method;
  readonly path: string;
  readonly operation: Operation;
}

const NIL = '00000000-0000-0000-0000-000000000000';

/** The operations of all documents, with this waitlist in their paths, and a uuid and an id that nothing has. */
export async function operationsOf(api: Api, waitlistId: number): Promise<CallableOperation[]> {
  const operations: CallableOperation[] = [];
  for (const document of ['/openapi.json', '/openapi-legacy.json']) {
    const { paths } = (await api.get(document)).body as OpenAPIObject;
    for (const [path, methods] of Object.entries(paths))
      for (const [method, operation] of Object.entries(methods as Record<string, Operation>))
        operations.push({
          method: method.toUpperCase() as Method,
          path: `${filled(path, waitlistId)}${queryOf(operation)}`,
          operation,
        });
  }
  return operations;
}

function filled(path: string, waitlistId: number): string {
  return path
    .replace('{waitlist_id}', String(waitlistId))
    .replace('{uuid}', NIL)
    .replace(/\{\w+\}/, '1');
}

/** The examples of its query: the router tells some operations apart by them. */
function queryOf({ parameters = [] }: Operation): string {
  const examples = parameters.filter((parameter) => parameter.in === 'query' && parameter.schema.example !== undefined);
  const query = new URLSearchParams(
    examples.map(({ name, schema }): [string, string] => [name, String(schema.example)]),
  );
  return examples.length > 0 ? `?${query.toString()}` : '';
}
