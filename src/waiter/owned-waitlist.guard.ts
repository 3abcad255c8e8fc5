import { type CanActivate, createParamDecorator, type ExecutionContext, Injectable } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import type { Caller } from '../auth/token.service.js';
import { readRequest } from '../platform/contract/request.pipe.js';
import { Problem } from '../platform/problems/problem.js';
import { type OwnedWaitlist as Owned, WaitlistService } from '../waitlist/waitlist.service.js';
import { NamedWaitlistDto } from './waiter.dto.js';

type Request = FastifyRequest & { user: Caller; ownedWaitlist: Owned };

/** Passes requests that name one of the caller's waitlists, by its API key or its id. Needs AccessTokenGuard before it. */
@Injectable()
export class OwnedWaitlistGuard implements CanActivate {
  constructor(private readonly waitlists: WaitlistService) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const request = context.switchToHttp().getRequest<Request>();
    request.ownedWaitlist = await this.find(request);
    return true;
  }

  private async find({ user: { account }, method, query, body, headers }: Request): Promise<Owned> {
    const parameters = (method === 'GET' ? query : body) as Readonly<Record<string, unknown>> | null | undefined;
    const { api_key, waitlist_id: id } = readRequest(NamedWaitlistDto, {
      api_key: parameters?.api_key,
      waitlist_id: parameters?.waitlist_id,
    });
    // The explicit parameter takes precedence over the header.
    const apiKey = api_key ?? headers['api-key'];
    if (typeof apiKey === 'string' && apiKey !== '') {
      const waitlist = await this.waitlists.findByKey(account.id, apiKey);
      if (!waitlist) throw new Problem('WRONG_API_KEY');
      // An offboarding cannot be undone, so it must not choose between two waitlists.
      if (id !== undefined && id !== waitlist.id)
        throw Problem.invalid([
          { field: 'waitlist_id', rule: 'one_of', message: 'must be the waitlist of the API key' },
        ]);
      return waitlist;
    }
    if (id === undefined)
      throw Problem.invalid([{ field: 'api_key', rule: 'required', message: 'is required without a waitlist_id' }]);
    return { ...(await this.waitlists.get(account.id, id)), apiKey: null };
  }
}

/** The waitlist that {@link OwnedWaitlistGuard} found. */
export const OwnedWaitlist = createParamDecorator((_: unknown, context: ExecutionContext): Owned => {
  return context.switchToHttp().getRequest<Request>().ownedWaitlist;
});
