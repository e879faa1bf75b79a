import { queryOptions } from '@tanstack/react-query';
import { identity, unwrap } from '../../api/client.ts';

/** The open sessions of a member. */
export const memberSessionsQuery = (id: string) =>
  queryOptions({
    queryKey: ['sessions', 'of', id],
    queryFn: async ({ signal }) =>
      (await unwrap(identity.GET('/api/v1/users/{id}/sessions', { params: { path: { id } }, signal })))
        .sessions,
  });
