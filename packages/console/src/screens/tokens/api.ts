import type { IdentitySchemas } from '@platform/clients/types';
import type { Bounds } from './bounds.ts';

export type TokenDetails = IdentitySchemas['schemas']['PersonalAccessTokenDetails'];

/** The states of a token, as they are chosen in a list. */
export const STATES = ['active', 'expired', 'revoked'] as const;

/** What a new token has that takes the place of another one. */
export interface TokenTemplate {
  readonly name: string;
  readonly scopes: readonly string[];
  readonly bounds?: Bounds;
  readonly allowList: readonly string[];
}
