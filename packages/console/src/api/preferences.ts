import { queryOptions } from '@tanstack/react-query';
import { identity, unwrap } from './client.ts';

export const preferencesQuery = queryOptions({
  queryKey: ['preferences'],
  queryFn: ({ signal }) => unwrap(identity.GET('/api/v1/users/me/preferences', { signal })),
});
