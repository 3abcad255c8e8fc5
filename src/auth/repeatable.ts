import { createHash } from 'node:crypto';
import {
  applyDecorators,
  createParamDecorator,
  type ExecutionContext,
  Injectable,
  type PipeTransform,
} from '@nestjs/common';
import { ApiHeader } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { v7 as uuidV7 } from 'uuid';
import { AuditLog } from '../platform/audit/audit-log.js';
import { HeaderHolds } from '../platform/contract/request.guard.js';
import { isRepeated } from '../platform/http/headers.js';
import type { AccountWrite, RepeatKey } from '../platform/idempotency/account-write.js';
import type { FieldFault } from '../platform/problems/problem.js';
import type { Rule } from '../platform/problems/rule.js';
import type { Caller } from './caller.js';

const KEY_HEADER = 'idempotency-key';
const KEY_LENGTH_MAX = 255;

interface Call {
  readonly request: FastifyRequest & { readonly user: Caller };
  readonly reply: FastifyReply;
}

/** The failures of a repeated write, in addition to those of the operation. */
export const REPEAT_PROBLEMS = ['IDEMPOTENCY_KEY_IN_USE', 'IDEMPOTENCY_KEY_REUSED', 'SECRET_UNAVAILABLE'] as const;

/** An operation that can be repeated safely. Its handler takes `@Write()`. */
export const Repeatable = () =>
  applyDecorators(
    HeaderHolds(keyFault),
    ApiHeader({
      name: 'Idempotency-Key',
      required: false,
      description:
        'Any text. A repeat of the request with the same key within 24 hours changes nothing and gets the first answer again, with `Idempotent-Replayed: true`. Keys are those of the account. An answer that holds a new secret is given again only to the member or the account key that got it; for others the key counts as used with another body.',
      schema: { type: 'string', minLength: 1, maxLength: KEY_LENGTH_MAX },
    }),
  );

/** Makes an {@link AccountWrite} from a request. Needs MemberOrKeyGuard before it. */
@Injectable()
class AccountWritePipe implements PipeTransform<Call, AccountWrite> {
  constructor(private readonly audit: AuditLog) {}

  transform({ request, reply }: Call): AccountWrite {
    const { accountId, waitlistIds, member, key } = request.user;
    return {
      id: uuidV7(),
      accountId,
      waitlistIds,
      keyId: key?.id ?? null,
      ...this.audit.originOf(request, member?.id ?? null),
      key: keyOf(request),
      markReplayed: () => void reply.header('Idempotent-Replayed', 'true'),
    };
  }
}

/** The {@link AccountWrite} of the request. */
export const Write = () =>
  createParamDecorator((_: unknown, context: ExecutionContext): Call => {
    const http = context.switchToHttp();
    return { request: http.getRequest(), reply: http.getResponse() };
  })(AccountWritePipe);

function keyFault(request: FastifyRequest): FieldFault | null {
  const given = request.headers[KEY_HEADER];
  const fault = (rule: Rule, message: string) => ({ field: 'Idempotency-Key', rule, message });
  if (given === undefined) return null;
  if (isRepeated(request, KEY_HEADER)) return fault('unique', 'must be given once');
  if (given === '') return fault('min_length', 'must not be empty');
  return given.length <= KEY_LENGTH_MAX ? null : fault('max_length', `must have at most ${KEY_LENGTH_MAX} characters`);
}

function keyOf({ user, method, routeOptions, params, body, headers }: Call['request']): RepeatKey | null {
  const { accountId, waitlistIds, member, key } = user;
  const given = headers[KEY_HEADER];
  // A streamed body cannot be compared with that of a repeat.
  if (given === undefined || routeOptions.config.takesCsv) return null;
  // A limited key has idempotency keys of its own: an answer to another caller may tell of a waitlist beyond its reach.
  const limited = waitlistIds === null ? [] : [`key ${key?.id}`];
  // Each member changes somebody else there, although the path is one.
  const own = routeOptions.url?.endsWith('/me') ? [`member ${member?.id}`] : [];
  return {
    id: hash([accountId, ...limited, ...own, method, routeOptions.url, params, given]),
    // Beside a token, `api-key` can name the waitlist. `given` makes contact data hard to guess from the hash.
    bodyHash: hash([given, key === null ? (headers['api-key'] ?? null) : null, body ?? null]),
  };
}

function hash(value: unknown): string {
  return createHash('sha256').update(JSON.stringify(value)).digest('hex');
}
