import type { IdentitySchemas } from '@platform/clients/types';

export type TokenDetails = IdentitySchemas['schemas']['PersonalAccessTokenDetails'];
