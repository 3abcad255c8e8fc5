import { createParamDecorator, type ExecutionContext, Injectable } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { AccessTokenGuard } from '../auth/token.guard.js';
import { AccessTokenStrategy } from '../auth/token.strategy.js';
import type { Session } from '../platform/database/session.js';
import { Problem } from '../platform/problems/problem.js';
import { type OwnedWaitlist as Owned, WaitlistService } from '../waitlist/waitlist.service.js';

type Request = FastifyRequest & { ownedWaitlist?: Owned | null };

/** Lets an owner's request pass whose API key opens a waitlist of theirs; the explicit parameter wins over the header. */
@Injectable()
export class OwnedWaitlistGuard extends AccessTokenGuard {
  constructor(
    strategy: AccessTokenStrategy,
    private readonly waitlists: WaitlistService,
  ) {
    super(strategy);
  }

  override async canActivate(context: ExecutionContext): Promise<boolean> {
    await super.canActivate(context);
    const request = context.switchToHttp().getRequest<Request>();
    if (apiKeyOf(request) === null) {
      throw Problem.invalid([{ field: 'api_key', message: 'must be the API key of the waitlist' }]);
    }
    if (!request.ownedWaitlist) throw new Problem('WRONG_API_KEY');
    return true;
  }

  protected override async readBeside(session: Session, accountId: number, request: Request): Promise<void> {
    const apiKey = apiKeyOf(request);
    request.ownedWaitlist = apiKey === null ? null : await this.waitlists.readByKey(session, accountId, apiKey);
  }
}

/** The waitlist that {@link OwnedWaitlistGuard} let the request in to. */
export const OwnedWaitlist = createParamDecorator((_: unknown, context: ExecutionContext): Owned => {
  const { ownedWaitlist } = context.switchToHttp().getRequest<Request>();
  if (!ownedWaitlist) throw new Error('@OwnedWaitlist() needs OwnedWaitlistGuard on its controller');
  return ownedWaitlist;
});

function apiKeyOf({ method, query, body, headers }: Request): string | null {
  const parameters = (method === 'GET' ? query : body) as Readonly<Record<string, unknown>> | null | undefined;
  const apiKey = parameters?.api_key ?? headers['api-key'];
  return typeof apiKey === 'string' && apiKey !== '' ? apiKey : null;
}
