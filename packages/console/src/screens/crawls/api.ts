import { crawls } from '#text/crawls';
import type { CrawlSchemas } from '@platform/clients/types';
import { queryOptions, useQuery } from '@tanstack/react-query';
import { useCallback } from 'react';
import { crawl, unwrap } from '../../api/client.ts';
import { announce } from '../../ui/announcements.tsx';
import { getConnectorName, readConnectorKey, toConnectorKey } from '../../ui/connector-name.ts';
import { explainProblem } from '../../ui/problem-note.tsx';
import { reportProblem } from '../../ui/reported-problem.tsx';
import { useAction } from '../../ui/use-action.ts';

export type Schedule = CrawlSchemas['schemas']['CrawlJobStatus'];
export type ScheduleConfig = CrawlSchemas['schemas']['ScheduleConfig'];
export type ScheduleConfigInput = CrawlSchemas['schemas']['ScheduleConfigInput'];
export type Run = CrawlSchemas['schemas']['CrawlRun'];
export type RunDetail = CrawlSchemas['schemas']['CrawlRunDetail'];
export type Endpoint = CrawlSchemas['schemas']['CrawlEndpoint'];
export type Hook = CrawlSchemas['schemas']['CrawlHook'];
export type Queue = CrawlSchemas['schemas']['CrawlQueue'];

const BASE = '/api/v1/crawlingManager' as const;
/** The paths without an instance are those of `default`. */
const INSTANCE = `${BASE}/{connector}/instances/{instance}` as const;
const REFRESH_MS = 5_000;

export const schedulesQuery = queryOptions({
  queryKey: ['crawls', 'schedules'],
  queryFn: async ({ signal }) => (await unwrap(crawl.GET(`${BASE}/schedule/all`, { signal }))).data,
  refetchInterval: REFRESH_MS,
});

export const connectorsQuery = queryOptions({
  queryKey: ['crawl-connectors'],
  queryFn: async ({ signal }) => (await unwrap(crawl.GET(`${BASE}/connectors`, { signal }))).data,
  staleTime: Infinity,
});

/** The key of the instance of a connector that a schedule is of. */
export const toKey = ({ instance, data: { connector } }: Pick<Schedule, 'instance' | 'data'>): string =>
  toConnectorKey({ connector, instance });

/** Returns a function that names an instance by its key, the same one until the names change. */
export function useInstanceNames(): (key: string) => string {
  const { data } = useQuery(schedulesQuery);
  return useCallback(
    (key) => getConnectorName(key, data?.find((schedule) => toKey(schedule) === key)?.displayName),
    [data],
  );
}

export const endpointsQuery = queryOptions({
  queryKey: ['crawls', 'endpoints'],
  queryFn: async ({ signal }) => (await unwrap(crawl.GET(`${BASE}/endpoints`, { signal }))).data,
});

export const HOOKS = `${INSTANCE}/hooks` as const;

export const hooksQuery = (connector: string) =>
  queryOptions({
    queryKey: ['crawls', 'hooks', connector],
    queryFn: async ({ signal }) => (await unwrap(crawl.GET(HOOKS, { ...toParams(connector), signal }))).data,
  });

/** The newest runs of a connector, for the marks of its row. */
export const recentRunsQuery = (connector: string) =>
  queryOptions({
    queryKey: ['crawls', 'recent-runs', connector],
    queryFn: async ({ signal }) => {
      const params = { path: readConnectorKey(connector), query: { limit: 10 } };
      return (await unwrap(crawl.GET(`${INSTANCE}/runs`, { params, signal }))).data;
    },
    refetchInterval: REFRESH_MS,
  });

const toParams = (key: string) => ({ params: { path: readConnectorKey(key) } });

const acts = {
  run: (key: string) => crawl.POST(`${INSTANCE}/run`, toParams(key)),
  pause: (key: string) => crawl.POST(`${INSTANCE}/pause`, toParams(key)),
  resume: (key: string) => crawl.POST(`${INSTANCE}/resume`, toParams(key)),
  // The first of a connector is always there; another one is nothing without its schedule.
  remove: (key: string) =>
    key.includes(':')
      ? crawl.DELETE(INSTANCE, toParams(key))
      : crawl.DELETE(`${INSTANCE}/schedule`, toParams(key)),
} as const;

export type Act = keyof typeof acts;

/** Does one thing to several connectors, one after the other, and says what became of each. */
export function useAct() {
  const getName = useInstanceNames();
  return useAction({
    async mutationFn({ act, connectors }: { act: Act; connectors: readonly string[] }) {
      const failed: string[] = [];
      for (const connector of connectors)
        await acts[act](connector).catch((error: unknown) => {
          failed.push(`${getName(connector)}: ${explainProblem(error)}`);
        });
      return failed;
    },
    onSuccess(failed, { act, connectors }) {
      if (failed.length > 0) reportProblem(failed.join(' '));
      else announce(crawls.done[act](connectors.map(getName).join(', ')));
    },
    changes: [['crawls']],
  });
}
