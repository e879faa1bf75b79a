import { useQuery } from '@tanstack/react-query';
import { crawl, unwrap } from '../../api/client.ts';
import { text } from '../../text/index.ts';
import { DataTable } from '../../ui/data-table.tsx';
import { Empty, Page, Section } from '../../ui/page.tsx';
import { QueryView } from '../../ui/query-view.tsx';
import { schedulesQuery } from './api.ts';
import { queueColumns } from './queue-columns.tsx';

const t = text.queue;
const REFRESH_MS = 2_000;
const SHOWN = ['waiting', 'active', 'delayed', 'paused', 'completed', 'failed'] as const;
const BUSY: ReadonlySet<string> = new Set(['waiting', 'active', 'failed']);

export function Screen() {
  const stats = useQuery({
    queryKey: ['crawls', 'stats'],
    queryFn: async ({ signal }) =>
      (await unwrap(crawl.GET('/api/v1/crawlingManager/stats', { signal }))).data,
    refetchInterval: REFRESH_MS,
  });
  const schedules = useQuery({ ...schedulesQuery, refetchInterval: REFRESH_MS });
  return (
    <Page title={t.title} intro={t.intro}>
      <QueryView query={stats}>
        {(counts) => (
          <dl className="figures">
            {SHOWN.map((name) => (
              <div key={name}>
                <dt>{t.counts[name]}</dt>
                <dd>{counts[name]}</dd>
              </div>
            ))}
          </dl>
        )}
      </QueryView>
      <Section title={t.now}>
        <QueryView query={schedules}>
          {(all) => (
            <DataTable
              label={t.now}
              columns={queueColumns}
              items={all.filter(({ state, overdueSince }) => BUSY.has(state) || overdueSince !== null)}
              getId={({ data }) => data.connector}
              getHref={({ data }) => `/crawls/connectors/${data.connector}`}
              empty={<Empty title={t.emptyTitle}>{t.emptyAdvice}</Empty>}
            />
          )}
        </QueryView>
      </Section>
    </Page>
  );
}
