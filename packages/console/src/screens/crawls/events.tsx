import type { CrawlSchemas } from '@platform/clients/types';
import { crawl, unwrap } from '../../api/client.ts';
import { text } from '../../text/index.ts';
import { type DataColumn, DataTable } from '../../ui/data-table.tsx';
import { Empty, Page } from '../../ui/page.tsx';
import { QueryView } from '../../ui/query-view.tsx';
import { Time } from '../../ui/time.tsx';
import { useList } from '../../ui/use-list.ts';

const t = text.events;
const PAGE_SIZE = 100;

type SyncEvent = CrawlSchemas['schemas']['SyncEvent'];

const columns: readonly DataColumn<SyncEvent>[] = [
  { id: 'type', label: t.columns.type, render: ({ eventType }) => <code>{eventType}</code> },
  {
    id: 'payload',
    label: t.columns.payload,
    isSecondary: true,
    render: ({ payload }) => (
      <span className="stack">
        {Object.entries(payload).map(([name, value]) => (
          <small key={name}>
            {name}: {value}
          </small>
        ))}
      </span>
    ),
  },
  { id: 'id', label: t.columns.id, isSecondary: true, render: ({ eventId }) => <code>{eventId}</code> },
  { id: 'at', label: t.columns.at, render: ({ timestamp }) => <Time at={timestamp} as="full" /> },
];

export function Screen() {
  const { more, ...query } = useList({
    key: ['events'],
    refreshMs: 5_000,
    async load(after, signal) {
      const params = { query: { limit: PAGE_SIZE, ...(after !== undefined && { after }) } };
      const page = await unwrap(crawl.GET('/api/v1/crawlingManager/events', { params, signal }));
      return { items: page.data, next: page.hasMore ? (page.nextCursor ?? undefined) : undefined };
    },
  });
  return (
    <Page title={t.title} intro={t.intro}>
      <QueryView query={query}>
        {(events) => (
          <DataTable
            label={t.title}
            columns={columns}
            items={events}
            more={more}
            getId={({ eventId }) => eventId}
            empty={<Empty title={t.emptyTitle}>{t.emptyAdvice}</Empty>}
          />
        )}
      </QueryView>
    </Page>
  );
}
