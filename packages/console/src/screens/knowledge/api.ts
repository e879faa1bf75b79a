import type { knowledge as t } from '#text/knowledge';
import type { IdentitySchemas } from '@platform/clients/types';
import { queryOptions } from '@tanstack/react-query';
import { identity, unwrap } from '../../api/client.ts';
import type { Tone } from '../../ui/badge.tsx';

export type Source = IdentitySchemas['schemas']['KnowledgeSource'];

const REFRESH_MS = 30_000;

/** The sources of what oneself can search; of an administrator all of them. */
export const sourcesQuery = queryOptions({
  queryKey: ['knowledge', 'sources'],
  queryFn: async ({ signal }) => (await unwrap(identity.GET('/api/v1/knowledge/sources', { signal }))).data,
  refetchInterval: REFRESH_MS,
});

export const stateTones: Readonly<Record<keyof typeof t.states, Tone>> = {
  fresh: 'good',
  late: 'bad',
  failing: 'bad',
  paused: 'notice',
  unscheduled: 'notice',
};
