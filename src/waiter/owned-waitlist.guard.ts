import { type CanActivate, createParamDecorator, type ExecutionContext, Injectable } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import type { Caller } from '../auth/caller.js';
import { Malformed, read } from '../platform/contract/request.js';
import { Problem } from '../platform/problems/problem.js';
import type { Rule } from '../platform/problems/rule.js';
import { type OwnedWaitlist as Owned, WaitlistService } from '../waitlist/waitlist.service.js';
import { NamedWaitlistDto } from './named-waitlist.dto.js';

type Request = FastifyRequest & { user: Caller; ownedWaitlist: Owned };

/** Passes requests that name a waitlist within the caller's reach, by its API key or its id. */
@Injectable()
export class OwnedWaitlistGuard implements CanActivate {
  constructor(private readonly waitlists: WaitlistService) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const request = context.switchToHttp().getRequest<Request>();
    const waitlist = await this.find(request);
    // RequestGuard refuses the request, and lists these faults with all others.
    if (waitlist instanceof Malformed) request.faults = [...(request.faults ?? []), ...waitlist.faults];
    else request.ownedWaitlist = waitlist;
    return true;
  }

  /** @throws Problem `WRONG_API_KEY`, `WAITLIST_NOT_FOUND` */
  private async find({ user: caller, method, query, body, headers }: Request): Promise<Owned | Malformed> {
    const parameters = (method === 'GET' ? query : body) as Readonly<Record<string, unknown>> | null | undefined;
    const { api_key, waitlist_id } = parameters ?? {};
    const named = read(NamedWaitlistDto, { api_key, waitlist_id });
    if (named instanceof Malformed) return named;
    // The explicit parameter takes precedence over the header, which can also hold an account key.
    const apiKey = named.api_key ?? (caller.key === null ? headers['api-key'] : undefined);
    const id = named.waitlist_id;
    if (typeof apiKey === 'string' && apiKey !== '') {
      const found = await this.waitlists.findByKey(caller, apiKey);
      if (!found) throw new Problem('WRONG_API_KEY');
      // `waitlist_api_key` is null for an account key, however the waitlist is named.
      const waitlist = caller.key === null ? found : { ...found, apiKey: null };
      // A write must not choose between two waitlists.
      if (id === undefined || id === waitlist.id) return waitlist;
      return malformed('waitlist_id', 'one_of', 'must be the waitlist of the API key');
    }
    if (id === undefined) return malformed('api_key', 'required', 'is required without a waitlist_id');
    return { ...(await this.waitlists.get(caller, id)), apiKey: null };
  }
}

function malformed(field: string, rule: Rule, message: string): Malformed {
  return new Malformed([{ field, rule, message }]);
}

/** The waitlist that {@link OwnedWaitlistGuard} found. */
export const OwnedWaitlist = createParamDecorator((_: unknown, context: ExecutionContext): Owned => {
  return context.switchToHttp().getRequest<Request>().ownedWaitlist;
});
