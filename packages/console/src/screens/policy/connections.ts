import type { IdentitySchemas } from '@platform/clients/types';
import { queryOptions } from '@tanstack/react-query';
import { identity, unwrap } from '../../api/client.ts';
import { readOnly } from '../../api/session.ts';

export type ConnectionPolicy = IdentitySchemas['schemas']['ConnectionPolicy'];
export type ClientKind = ConnectionPolicy['clientKinds'][number];

/** The longest that the platform allows. */
export const MAX_DAYS = 90;

const PATH = '/api/v1/organisation/connection-policy';

export const connectionPolicyQuery = queryOptions({
  queryKey: ['connection-policy'],
  queryFn: ({ signal }) => unwrap(identity.GET(PATH, { signal })),
});

/** Asks which connections the policy would end, or saves it. */
export const sendConnectionPolicy = (policy: ConnectionPolicy, options: { dryRun: boolean }) =>
  unwrap(identity.PUT(PATH, { params: { query: options }, body: policy, ...(options.dryRun && readOnly) }));
export type ConnectionEffect = Awaited<ReturnType<typeof sendConnectionPolicy>>;
