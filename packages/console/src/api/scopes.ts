import type { IdentitySchemas } from '@platform/clients/types';
import { queryOptions, useQuery } from '@tanstack/react-query';
import { identity, unwrap } from './client.ts';
import { useMe } from './me.ts';

/** The scopes that the person can grant, in groups, each with a description. */
export const scopesQuery = queryOptions({
  queryKey: ['grantable-scopes'],
  queryFn: async ({ signal }) =>
    (await unwrap(identity.GET('/api/v1/personal-access-tokens/scopes', { signal }))).scopes,
  staleTime: 60_000,
});

type ScopeGroups = IdentitySchemas['schemas']['GrantableScopes']['scopes'];

/** Leaves out what a caller with the role cannot use, such as the API of crawls, which is for administrators. */
export function forRole(groups: ScopeGroups, role: string): ScopeGroups {
  if (role === 'admin') return groups;
  return filterScopes(groups, ({ forAdmins }) => !forAdmins);
}

/** Leaves only the scopes with the names. */
export const narrow = (groups: ScopeGroups, names: readonly string[]): ScopeGroups =>
  filterScopes(groups, ({ name }) => names.includes(name));

const filterScopes = (
  groups: ScopeGroups,
  isKept: (scope: ScopeGroups[number]['scopes'][number]) => boolean,
): ScopeGroups =>
  groups
    .map((group) => ({ ...group, scopes: group.scopes.filter(isKept) }))
    .filter(({ scopes }) => scopes.length > 0);

/**
 * Adds a group of the scopes that are chosen already and can't be granted now, such as denied ones:
 * a form that doesn't show them would drop them when it is saved.
 */
export function withChosen(groups: ScopeGroups, chosen: readonly string[], category: string): ScopeGroups {
  const known = new Set(groups.flatMap(({ scopes }) => scopes.map(({ name }) => name)));
  const others = chosen.filter((name) => !known.has(name));
  if (others.length === 0) return groups;
  const scopes = others.map((name) => ({
    name,
    description: '',
    default: false,
    adminOnly: false,
    forAdmins: false,
  }));
  return [...groups, { category, scopes }];
}

interface ScopeWords {
  /** Returns what a scope allows, in words; its name when the person can't grant it. */
  describe(scope: string): string;
  /** Returns whether a scope that the person has granted does nothing: their role, or a policy, has changed since. */
  isIdle(scope: string): boolean;
}

export function useScopeWords(): ScopeWords {
  const { role } = useMe();
  const { data } = useQuery(scopesQuery);
  const known = new Map(data?.flatMap(({ scopes }) => scopes.map((scope) => [scope.name, scope] as const)));
  return {
    describe: (scope) => known.get(scope)?.description ?? scope,
    isIdle(scope) {
      const found = known.get(scope);
      return data !== undefined && (found === undefined || (found.forAdmins && role !== 'admin'));
    },
  };
}
