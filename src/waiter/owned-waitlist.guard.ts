import { type CanActivate, createParamDecorator, type ExecutionContext, Injectable } from '@nestjs/common';
import type { Caller } from '../auth/token.strategy.js';
import { Problem } from '../platform/problem.js';
import { type OwnedWaitlist as Owned, WaitlistService } from '../waitlist/waitlist.service.js';

interface Request {
  readonly method: string;
  readonly query: Readonly<Record<string, unknown>>;
  readonly body?: Readonly<Record<string, unknown>> | null;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly user: Caller;
  ownedWaitlist?: Owned;
}

/** Lets a request pass whose API key opens a waitlist of the caller; the explicit parameter wins over the header. */
@Injectable()
export class OwnedWaitlistGuard implements CanActivate {
  constructor(private readonly waitlists: WaitlistService) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const request = context.switchToHttp().getRequest<Request>();
    const apiKey = (request.method === 'GET' ? request.query : request.body)?.api_key ?? request.headers['api-key'];
    if (typeof apiKey !== 'string' || apiKey === '') {
      throw Problem.invalid([{ field: 'api_key', message: 'must be the API key of the waitlist' }]);
    }
    const waitlist = await this.waitlists.findByKey(request.user.account.id, apiKey);
    if (!waitlist) throw new Problem('forbidden', 'WRONG_API_KEY', 'This API key opens no waitlist of yours.');
    request.ownedWaitlist = waitlist;
    return true;
  }
}

/** The waitlist that {@link OwnedWaitlistGuard} let the request in to. */
export const OwnedWaitlist = createParamDecorator((_: unknown, context: ExecutionContext): Owned => {
  const { ownedWaitlist } = context.switchToHttp().getRequest<Request>();
  if (!ownedWaitlist) throw new Error('@OwnedWaitlist() needs OwnedWaitlistGuard on its controller');
  return ownedWaitlist;
});
