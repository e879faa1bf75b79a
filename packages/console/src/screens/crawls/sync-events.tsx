import { crawls } from '#text/crawls';
import { events as t } from '#text/events';
import { text } from '#text/shared';
import type { CrawlSchemas } from '@platform/clients/types';
import { useQuery } from '@tanstack/react-query';
import { useMemo, useState } from 'react';
import { crawl, unwrap } from '../../api/client.ts';
import { Button } from '../../ui/button.tsx';
import { Copyable } from '../../ui/copy.tsx';
import { getConnectorName, toConnectorKey } from '../../ui/connector-name.ts';
import { ConnectorName } from '../../ui/connector.tsx';
import type { DataColumn } from '../../ui/data-table.tsx';
import { EmptyLink } from '../../ui/dialog-button.tsx';
import { ModalDialog } from '../../ui/dialogs.tsx';
import { ListPage } from '../../ui/list-page.tsx';
import { Empty } from '../../ui/page.tsx';
import { SelectFilter } from '../../ui/select-filter.tsx';
import { Time } from '../../ui/time.tsx';
import { NoMatch } from '../../ui/no-match.tsx';
import { useFilters } from '../../ui/use-filters.ts';
import { useList } from '../../ui/use-list.ts';
import { connectorsQuery, useInstanceNames } from './api.ts';

const PAGE_SIZE = 100;

type SyncEvent = CrawlSchemas['schemas']['SyncEvent'];

const createColumns = (getName: (key: string) => string): readonly DataColumn<SyncEvent>[] => [
  {
    id: 'type',
    label: t.columns.type,
    render: ({ eventType, payload }) => {
      const of = {
        connector: payload['connector'] ?? '',
        instance: payload['connectorInstance'] ?? 'default',
      };
      return (
        <span className="stack">
          <ConnectorName {...of} displayName={getName(toConnectorKey(of))} />
          <small>{eventType}</small>
        </span>
      );
    },
  },
  { id: 'id', label: t.columns.id, isSecondary: true, render: ({ eventId }) => <code>{eventId}</code> },
  { id: 'at', label: t.columns.at, render: ({ timestamp }) => <Time at={timestamp} as="full" /> },
];

export function Screen() {
  const { filters } = useFilters();
  const connector = filters['connector'];
  const connectors = useQuery(connectorsQuery).data ?? [];
  const [shown, setShown] = useState<SyncEvent>();
  const getName = useInstanceNames();
  const columns = useMemo(() => createColumns(getName), [getName]);
  const list = useList({
    key: ['events', connector],
    async load(after, signal) {
      const query = { limit: PAGE_SIZE, ...(after && { after }), ...(connector && { connector }) };
      const page = await unwrap(crawl.GET('/api/v1/crawlingManager/events', { params: { query }, signal }));
      return { items: page.data, next: page.hasMore ? (page.nextCursor ?? undefined) : undefined };
    },
    refresh: { everyMs: 5_000, getId: ({ eventId }) => eventId },
  });
  return (
    <ListPage<SyncEvent>
      title={text.screens.syncEvents}
      intro={t.intro}
      filters={
        <SelectFilter
          label={crawls.columns.connector}
          name="connector"
          options={connectors.map((one) => [one.connector, getConnectorName(one.connector)])}
        />
      }
      list={list}
      columns={columns}
      getId={({ eventId }) => eventId}
      onOpen={setShown}
      empty={
        connector === undefined ? (
          <Empty title={t.emptyTitle} action={<EmptyLink to="/crawls" label={crawls.add} />}>
            {t.emptyAdvice}
          </Empty>
        ) : (
          <NoMatch title={t.noMatch(getConnectorName(connector))} />
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
