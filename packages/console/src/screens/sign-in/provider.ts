import type { IdentitySchemas } from '@platform/clients/types';
import { queryOptions } from '@tanstack/react-query';
import { identity, unwrap } from '../../api/client.ts';

export type Provider = IdentitySchemas['schemas']['IdentityProvider'];
export type Domain = IdentitySchemas['schemas']['IdentityDomain'];

export const PROVIDER_PATH = '/api/v1/organisation/identity-provider';
export const PROVIDER_KEY = ['identity-provider'];

export const providerQuery = queryOptions({
  queryKey: PROVIDER_KEY,
  queryFn: ({ signal }) => unwrap(identity.GET(PROVIDER_PATH, { signal })),
});
