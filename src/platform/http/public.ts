import { applyDecorators, type CanActivate, SetMetadata, type Type, UseGuards } from '@nestjs/common';
import { RequestGuard } from '../contract/request.guard.js';

/** Metadata of controllers and operations: the callers that they accept. test/contract/access.spec.ts checks all. */
export const WHO_MAY_CALL = 'who-may-call';
export type WhoMayCall = 'public' | 'member' | 'refresh' | 'cookie';

/** Only requests that pass these guards, and then have no fault, reach the operation. */
export const MayCall = (who: WhoMayCall, ...guards: Type<CanActivate>[]) =>
  applyDecorators(
    SetMetadata<string, WhoMayCall>(WHO_MAY_CALL, who),
    UseGuards(...guards, new RequestGuard(who === 'member')),
  );

/** Anyone may call. An Authorization header is ignored. */
export const Public = () => MayCall('public');
