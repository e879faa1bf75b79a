import { crawls } from '#text/crawls';
import { queue as t } from '#text/queue';
import { text } from '#text/shared';
import { useQuery } from '@tanstack/react-query';
import { crawl, unwrap } from '../../api/client.ts';
import { toConnectorKey } from '../../ui/connector-name.ts';
import { DataTable } from '../../ui/data-table.tsx';
import { EmptyLink } from '../../ui/dialog-button.tsx';
import { Empty, Figures, Page, Section } from '../../ui/page.tsx';
import { QueryView } from '../../ui/query-view.tsx';
import type { Queue } from './api.ts';
import { queueColumns } from './queue-columns.tsx';
import { RunChart } from './run-chart.tsx';

const BASE = '/api/v1/crawlingManager';
const REFRESH_MS = 2_000;
const SHOWN = ['waiting', 'active', 'delayed', 'paused', 'completed', 'failed'] as const;

export function Screen() {
  const stats = useQuery({
    queryKey: ['crawls', 'stats'],
    queryFn: async ({ signal }) => (await unwrap(crawl.GET(`${BASE}/stats`, { signal }))).data,
    refetchInterval: REFRESH_MS,
  });
  const queue = useQuery({
    queryKey: ['crawls', 'queue'],
    queryFn: async ({ signal }) => (await unwrap(crawl.GET(`${BASE}/queue`, { signal }))).data,
    refetchInterval: REFRESH_MS,
  });
  return (
    <Page title={text.screens.queue} intro={t.intro}>
      <QueryView query={stats}>
        {(counts) => <Figures of={SHOWN.map((name) => [t.counts[name], counts[name]] as const)} />}
      </QueryView>
      <QueryView query={queue}>{(found) => <QueueView queue={found} />}</QueryView>
    </Page>
  );
}

/** The longest-waiting ones first. */
const byWait = (one: Queue['connectors'][number], other: Queue['connectors'][number]): number =>
  (one.waitingSince ?? '~').localeCompare(other.waitingSince ?? '~');

const QueueView = ({ queue }: { queue: Queue }) => (
  <>
    <Section title={t.lastHour}>
      <RunChart steps={queue.lastHour} />
    </Section>
    <Section title={t.byConnector}>
      <DataTable
        label={t.byConnector}
        columns={queueColumns}
        items={queue.connectors.toSorted(byWait)}
        getId={toConnectorKey}
        getHref={(one) => `/crawls/connectors/${toConnectorKey(one)}`}
        empty={
          <Empty title={t.emptyTitle} action={<EmptyLink to="/crawls" label={crawls.add} />}>
            {t.emptyAdvice}
          </Empty>
        }
      />
    </Section>
  </>
);
