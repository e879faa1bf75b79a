import { crawls } from '#text/crawls';
import { events as t } from '#text/events';
import { text } from '#text/shared';
import type { CrawlSchemas } from '@platform/clients/types';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { crawl, unwrap } from '../../api/client.ts';
import { Button } from '../../ui/button.tsx';
import { Copyable } from '../../ui/copy.tsx';
import type { DataColumn } from '../../ui/data-table.tsx';
import { ModalDialog } from '../../ui/dialogs.tsx';
import { ListPage } from '../../ui/list-page.tsx';
import { Empty } from '../../ui/page.tsx';
import { SelectFilter } from '../../ui/select-filter.tsx';
import { Time } from '../../ui/time.tsx';
import { useFilters } from '../../ui/use-filters.ts';
import { useList } from '../../ui/use-list.ts';
import { connectorsQuery } from './api.ts';

const PAGE_SIZE = 100;

type SyncEvent = CrawlSchemas['schemas']['SyncEvent'];

const columns: readonly DataColumn<SyncEvent>[] = [
  {
    id: 'type',
    label: t.columns.type,
    render: ({ eventType, payload }) => (
      <span className="stack">
        <code>{eventType}</code>
        <small>{payload['connector']}</small>
      </span>
    ),
  },
  { id: 'id', label: t.columns.id, isSecondary: true, render: ({ eventId }) => <code>{eventId}</code> },
  { id: 'at', label: t.columns.at, render: ({ timestamp }) => <Time at={timestamp} as="full" /> },
];

/** Reads on while a filtered page is empty and yet has more after it. */
async function loadEvents(connector: string | undefined, cursor: string | undefined, signal: AbortSignal) {
  for (let after = cursor; ;) {
    const search = { limit: PAGE_SIZE, ...(after && { after }), ...(connector && { connector }) };
    const params = { query: search };
    const page = await unwrap(crawl.GET('/api/v1/crawlingManager/events', { params, signal }));
    const next = page.hasMore ? (page.nextCursor ?? undefined) : undefined;
    if (page.data.length > 0 || next === undefined) return { items: page.data, next };
    after = next;
  }
}

export function Screen() {
  const { filters } = useFilters();
  const connector = filters['connector'];
  const connectors = useQuery(connectorsQuery).data ?? [];
  const [shown, setShown] = useState<SyncEvent>();
  const list = useList({
    key: ['events', connector],
    load: (after, signal) => loadEvents(connector, after, signal),
    refresh: { everyMs: 5_000, getId: ({ eventId }) => eventId },
  });
  return (
    <ListPage<SyncEvent>
      title={text.screens.events}
      intro={t.intro}
      filters={
        <SelectFilter
          label={crawls.columns.connector}
          name="connector"
          options={connectors.map((one) => [one.connector, one.connector])}
        />
      }
      list={list}
      columns={columns}
      getId={({ eventId }) => eventId}
      onOpen={setShown}
      empty={
        connector === undefined ? (
          <Empty title={t.emptyTitle}>{t.emptyAdvice}</Empty>
        ) : (
          <Empty title={t.noMatch(connector)}>{text.noMatchAdvice}</Empty>
        )
      }
    >
      {shown && <ShownEvent event={shown} onClose={() => setShown(undefined)} />}
    </ListPage>
  );
}

const ShownEvent = ({ event, onClose }: { event: SyncEvent; onClose: () => void }) => (
  <ModalDialog title={event.eventType} isWide onClose={onClose}>
    <Copyable label={t.payload} value={JSON.stringify(event, undefined, 2)} />
    <div className="actions">
      <Button onPress={onClose}>{text.close}</Button>
    </div>
  </ModalDialog>
);
