import { type CanActivate, createParamDecorator, type ExecutionContext, Injectable } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import type { Caller } from '../auth/token.service.js';
import { Problem } from '../platform/problems/problem.js';
import { type OwnedWaitlist as Owned, WaitlistService } from '../waitlist/waitlist.service.js';

type Request = FastifyRequest & { user: Caller; ownedWaitlist: Owned };

/** Passes requests with the API key of one of the caller's waitlists. Needs AccessTokenGuard before it. */
@Injectable()
export class OwnedWaitlistGuard implements CanActivate {
  constructor(private readonly waitlists: WaitlistService) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const request = context.switchToHttp().getRequest<Request>();
    const apiKey = apiKeyOf(request);
    if (!apiKey) {
      // RequestInterceptor refuses the request, with all its faults.
      request.faults = [{ field: 'api_key', rule: 'required', message: 'must be the API key of the waitlist' }];
      return true;
    }
    const waitlist = await this.waitlists.findByKey(request.user.account.id, apiKey);
    if (!waitlist) throw new Problem('WRONG_API_KEY');
    request.ownedWaitlist = waitlist;
    return true;
  }
}

/** The waitlist that {@link OwnedWaitlistGuard} found. */
export const OwnedWaitlist = createParamDecorator((_: unknown, context: ExecutionContext): Owned => {
  return context.switchToHttp().getRequest<Request>().ownedWaitlist;
});

/** The explicit parameter takes precedence over the header. */
function apiKeyOf({ method, query, body, headers }: Request): string | null {
  const parameters = (method === 'GET' ? query : body) as Readonly<Record<string, unknown>> | null | undefined;
  const apiKey = parameters?.api_key ?? headers['api-key'];
  return typeof apiKey === 'string' ? apiKey : null;
}
