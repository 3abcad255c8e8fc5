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

/** The operations of all documents. `id` stands in place of each parameter in a path. */
export async function operationsOf(api: Api, id: number): Promise<CallableOperation[]> {
  const operations: CallableOperation[] = [];
  for (const document of ['/openapi.json', '/openapi-legacy.json']) {
    const { paths } = (await api.get(document)).body as OpenAPIObject;
    for (const [path, methods] of Object.entries(paths))
      for (const [method, operation] of Object.entries(methods as Record<string, Operation>))
        operations.push({
          method: method.toUpperCase() as Method,
          path: `${path.replaceAll(/\{\w+\}/g, String(id))}${queryOf(operation)}`,
          operation,
        });
  }
  return operations;
}

/** The examples of its query: the router tells some operations apart by them. */
function queryOf({ parameters = [] }: Operation): string {
  const examples = parameters.filter((parameter) => parameter.in === 'query' && parameter.schema.example !== undefined);
  const query = new URLSearchParams(
    examples.map(({ name, schema }): [string, string] => [name, String(schema.example)]),
  );
  return examples.length > 0 ? `?${query.toString()}` : '';
}
