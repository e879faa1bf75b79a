import { queryOptions, useQuery } from '@tanstack/react-query';
import { identity, unwrap } from './client.ts';

/** The scopes that the person can grant, in groups, each with a description. */
export const scopesQuery = queryOptions({
  queryKey: ['grantable-scopes'],
  queryFn: async ({ signal }) =>
    (await unwrap(identity.GET('/api/v1/personal-access-tokens/scopes', { signal }))).scopes,
  staleTime: 60_000,
});

/** Returns what a scope allows, in words; the name of one that the person can't grant. */
export function useScopeWords(): (scope: string) => string {
  const { data = [] } = useQuery(scopesQuery);
  const words = new Map(
    data.flatMap(({ scopes }) => scopes.map(({ name, description }) => [name, description])),
  );
  return (scope) => words.get(scope) ?? scope;
}
