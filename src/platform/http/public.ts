import { SetMetadata } from '@nestjs/common';

/** Metadata on each controller or operation: the callers that it accepts. test/contract/access.spec.ts checks all of them. */
export const WHO_MAY_CALL = 'who-may-call';
export type WhoMayCall = 'public' | 'owner' | 'refresh' | 'cookie';

/** Anyone may call. An Authorization header is ignored. */
export const Public = () => SetMetadata<string, WhoMayCall>(WHO_MAY_CALL, 'public');
