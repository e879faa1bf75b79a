import { queryOptions, useSuspenseQuery } from '@tanstack/react-query';
import { identity, unwrap } from './client.ts';

export const meQuery = queryOptions({
  queryKey: ['me'],
  queryFn: async ({ signal }) => {
    const { user } = await unwrap(identity.GET('/api/v1/users/me', { signal }));
    // A session is always that of a person.
    if (user === null) throw new Error('a service account has no session');
    return user;
  },
  staleTime: 60_000,
});

/** The person who is signed in; the router has loaded it before any screen is shown. */
export const useMe = () => useSuspenseQuery(meQuery).data;
