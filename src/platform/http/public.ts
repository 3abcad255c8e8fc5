import { SetMetadata } from '@nestjs/common';

/** Metadata that says who may call, on each controller or operation; a test of the contract walks it. */
export const WHO_MAY_CALL = 'who-may-call';
export type WhoMayCall = 'public' | 'owner' | 'refresh';

/** Anyone may call; an Authorization header is not looked at. */
export const Public = () => SetMetadata<string, WhoMayCall>(WHO_MAY_CALL, 'public');
