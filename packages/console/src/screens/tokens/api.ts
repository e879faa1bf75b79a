import type { IdentitySchemas } from '@platform/clients/types';

export type TokenDetails = IdentitySchemas['schemas']['PersonalAccessTokenDetails'];

/** The states of a token, as they are chosen in a list. */
export const STATES = ['active', 'expired', 'revoked'] as const;
