import type { IdentitySchemas } from '@platform/clients/types';
import { queryOptions, useQuery } from '@tanstack/react-query';
import { identity, unwrap } from './client.ts';

/** The scopes that the person can grant, in groups, each with a description. */
export const scopesQuery = queryOptions({
  queryKey: ['grantable-scopes'],
  queryFn: async ({ signal }) =>
    (await unwrap(identity.GET('/api/v1/personal-access-tokens/scopes', { signal }))).scopes,
  staleTime: 60_000,
});

type ScopeGroups = IdentitySchemas['schemas']['GrantableScopes']['scopes'];

/**
 * Leaves out what a caller with the role cannot use: only administrators may call the API of crawls, whatever scopes
 * they have.
 */
export function forRole(groups: ScopeGroups, role: string): ScopeGroups {
  if (role === 'admin') return groups;
  return filterScopes(groups, ({ name, adminOnly }) => !adminOnly && !name.startsWith('crawl:'));
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
  const scopes = others.map((name) => ({ name, description: '', default: false, adminOnly: false }));
  return [...groups, { category, scopes }];
}

/** Returns what a scope allows, in words; its name when the person can't grant it. */
export function useScopeWords(): (scope: string) => string {
  const { data = [] } = useQuery(scopesQuery);
  const words = new Map(
    data.flatMap(({ scopes }) => scopes.map(({ name, description }) => [name, description])),
  );
  return (scope) => words.get(scope) ?? scope;
}
