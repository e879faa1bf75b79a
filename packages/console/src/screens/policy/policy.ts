import type { IdentitySchemas } from '@platform/clients/types';
import { queryOptions } from '@tanstack/react-query';
import { identity, unwrap } from '../../api/client.ts';
import { readOnly } from '../../api/session.ts';
import { readText } from '../../ui/read-form.ts';
import { readRanges } from '../tokens/ranges.ts';

export type Policy = IdentitySchemas['schemas']['TokenPolicy'];

export const policyQuery = queryOptions({
  queryKey: ['token-policy'],
  queryFn: async ({ signal }) =>
    (await unwrap(identity.GET('/api/v1/organisation/token-policy', { signal }))).policy,
});

/** The rules that are on or off. */
export type Rule = 'limit' | 'never' | 'family' | 'unused';

export const toRules = ({
  maxLifetimeDays,
  allowsNever,
  revokeFamilyOnReuse,
  revokeUnusedDays,
}: Policy): Rule[] => [
  ...(maxLifetimeDays === null ? [] : (['limit'] as const)),
  ...(allowsNever ? (['never'] as const) : []),
  ...(revokeFamilyOnReuse ? (['family'] as const) : []),
  ...(revokeUnusedDays === null ? [] : (['unused'] as const)),
];

/** The choices in the form: the numbers of rules that have one, and the scopes. */
interface Chosen {
  readonly maxLifetimeDays: number;
  readonly revokeUnusedDays: number;
  readonly deniedScopes: readonly string[];
}

/** Reads the policy from its form. */
export function readPolicy(form: FormData, rules: readonly Rule[], chosen: Chosen): Policy {
  return {
    allowList: readRanges(readText(form, 'allowList')),
    maxLifetimeDays: rules.includes('limit') ? chosen.maxLifetimeDays : null,
    allowsNever: rules.includes('never'),
    deniedScopes: [...chosen.deniedScopes],
    revokeFamilyOnReuse: rules.includes('family'),
    revokeUnusedDays: rules.includes('unused') ? chosen.revokeUnusedDays : null,
  };
}

/** Asks what the policy would do, or saves it. */
export const sendPolicy = (body: Policy, query: { dryRun: boolean }) =>
  unwrap(
    identity.PUT('/api/v1/organisation/token-policy', {
      params: { query },
      body,
      ...(query.dryRun && readOnly),
    }),
  );
export type PolicyEffect = Awaited<ReturnType<typeof sendPolicy>>;
