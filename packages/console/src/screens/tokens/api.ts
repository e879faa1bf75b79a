import type { IdentitySchemas } from '@platform/clients/types';

export type Token = IdentitySchemas['schemas']['ListedPersonalAccessToken'];
export type TokenDetails = IdentitySchemas['schemas']['PersonalAccessTokenDetails'];
