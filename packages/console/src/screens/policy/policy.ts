import type { IdentitySchemas } from '@platform/clients/types';
import { queryOptions } from '@tanstack/react-query';
import { identity, unwrap } from '../../api/client.ts';
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

/** The numbers of rules that have one. */
export interface RuleDays {
  readonly maxLifetimeDays: number;
  readonly revokeUnusedDays: number;
}

/** Reads the policy from its form. */
export function readPolicy(form: FormData, rules: readonly Rule[], days: RuleDays): Policy {
  return {
    allowList: readRanges(readText(form, 'allowList')),
    maxLifetimeDays: rules.includes('limit') ? days.maxLifetimeDays : null,
    allowsNever: rules.includes('never'),
    deniedScopes: form.getAll('deniedScopes').map(String),
    revokeFamilyOnReuse: rules.includes('family'),
    revokeUnusedDays: rules.includes('unused') ? days.revokeUnusedDays : null,
  };
}

/** Asks what the policy would do, or saves it. */
export const sendPolicy = (body: Policy, query: { dryRun: boolean }) =>
  unwrap(identity.PUT('/api/v1/organisation/token-policy', { params: { query }, body }));
export type PolicyEffect = Awaited<ReturnType<typeof sendPolicy>>;
