import { type CanActivate, type ExecutionContext, type PipeTransform, SetMetadata, type Type } from '@nestjs/common';
import { ROUTE_ARGS_METADATA } from '@nestjs/common/constants.js';
import { RouteParamtypes } from '@nestjs/common/enums/route-paramtypes.enum.js';
import type { FastifyRequest } from 'fastify';
import { type FieldFault, Problem } from '../problems/problem.js';
import { fieldsOf, Malformed, read, requestFaults, unknownField } from './request.js';

declare module 'fastify' {
  interface FastifyRequest {
    /** Faults found before the path, query and body are read; they are listed with all others. */
    faults?: readonly FieldFault[];
  }
}

/** The pipe of a path parameter. `faultOf` checks the text; `transform` converts text without a fault. */
export interface PathPipe extends PipeTransform<string> {
  faultOf(text: string): FieldFault | null;
}

const HEADER_RULE = 'header-rule';
type HeaderRule = (request: FastifyRequest) => FieldFault | null;

/** A rule of an operation for its headers. Its fault is listed with those of the path, query and body. */
export const HeaderHolds = (rule: HeaderRule) => SetMetadata<string, HeaderRule>(HEADER_RULE, rule);

/** How an operation reads its requests. */
interface Reading {
  readonly headerRule: HeaderRule | null;
  readonly path: readonly { readonly name: string; readonly pipe: PathPipe }[];
  readonly query: Type<object> | null;
  readonly body: Type<object> | null;
  /** The known query parameters; null if unknown ones are ignored. */
  readonly queryParameters: ReadonlySet<string> | null;
}

type RouteArguments = Readonly<Record<string, { index: number; data?: unknown; pipes?: readonly unknown[] }>>;

/**
 * Reads path, query and body as the DTOs that the handler declares, and refuses all their faults at once. Nest would
 * run a pipe for each argument, and answer with the first fault. Its ValidationPipe also changes data: it deletes
 * `constructor` and `prototype` keys from metadata, reads a null body as an empty object, and converts path parameters
 * too early (`1e3` becomes 1000). An interceptor would take a tenth of a lookup's time. See
 * docs/decisions/validation.md.
 */
export class RequestGuard implements CanActivate {
  private readonly readings = new WeakMap<object, Reading>();

  /** Unknown query parameters are ignored, or refused. */
  constructor(private readonly refusesUnknown: boolean) {}

  /** @throws Problem `INVALID_REQUEST` */
  canActivate(context: ExecutionContext): boolean {
    const handler = context.getHandler();
    let reading = this.readings.get(handler);
    if (!reading) this.readings.set(handler, (reading = this.readingOf(context)));
    readAll(reading, context.switchToHttp().getRequest<FastifyRequest>());
    return true;
  }

  private readingOf(context: ExecutionContext): Reading {
    const [controller, handler] = [context.getClass(), context.getHandler()];
    const types = Reflect.getMetadata(
      'design:paramtypes',
      controller.prototype as object,
      handler.name,
    ) as Type<object>[];
    const named = (Reflect.getMetadata(ROUTE_ARGS_METADATA, controller, handler.name) ?? {}) as RouteArguments;
    // The keys of custom decorators do not begin with a number.
    const given = Object.entries(named).map(([key, argument]) => ({
      ...argument,
      source: Number(key.split(':', 1)[0]),
    }));
    const dtoOf = (source: number) => {
      const argument = given.find((candidate) => candidate.source === source);
      return argument ? (types[argument.index] as Type<object>) : null;
    };
    const query = dtoOf(RouteParamtypes.QUERY);
    return {
      headerRule: (Reflect.getMetadata(HEADER_RULE, handler) as HeaderRule | undefined) ?? null,
      path: given
        .filter(({ source }) => source === Number(RouteParamtypes.PARAM))
        .map(({ data, pipes = [] }) => ({ name: data as string, pipe: pipes[0] as PathPipe })),
      query,
      body: dtoOf(RouteParamtypes.BODY),
      queryParameters: !this.refusesUnknown ? null : query ? fieldsOf(query) : new Set<string>(),
    };
  }
}

function readAll({ headerRule, path, query, body, queryParameters }: Reading, request: FastifyRequest): void {
  const faults: FieldFault[] = [...(request.faults ?? [])];
  const readAs = (dto: Type<object>, value: unknown) => {
    const result = read(dto, value);
    if (result instanceof Malformed) faults.push(...requestFaults(result));
    return result;
  };
  const headerFault = headerRule?.(request);
  if (headerFault) faults.push(headerFault);
  const params = request.params as Readonly<Record<string, string>>;
  for (const { name, pipe } of path) {
    const fault = pipe.faultOf(params[name] ?? '');
    if (fault) faults.push(fault);
  }
  const unknowns = queryParameters && parametersOf(request).filter((name) => !queryParameters.has(name));
  if (unknowns) faults.push(...unknowns.map(unknownField));
  if (query) request.query = readAs(query, request.query);
  if (body) request.body = readAs(body, request.body);
  if (faults.length > 0) throw Problem.invalid(faults);
}

/** The names in the query itself, without those that a JSON body adds. */
function parametersOf({ url }: FastifyRequest): string[] {
  const start = url.indexOf('?');
  return start < 0 ? [] : [...new URLSearchParams(url.slice(start + 1)).keys()];
}
