import { facts as t } from '#text/facts';
import { text } from '#text/shared';
import { useMemo, useState } from 'react';
import { identity, unwrap } from '../../api/client.ts';
import { Button } from '../../ui/button.tsx';
import { toConnectorKey } from '../../ui/connector-name.ts';
import { Copyable } from '../../ui/copy.tsx';
import type { DataColumn } from '../../ui/data-table.tsx';
import { ModalDialog } from '../../ui/dialogs.tsx';
import { ListPage } from '../../ui/list-page.tsx';
import { NoMatch } from '../../ui/no-match.tsx';
import { Empty } from '../../ui/page.tsx';
import { SelectFilter } from '../../ui/select-filter.tsx';
import { Time } from '../../ui/time.tsx';
import { useFilters } from '../../ui/use-filters.ts';
import { useList } from '../../ui/use-list.ts';
import { useInstanceNames } from '../crawls/api.ts';
import { type Fact, factTypeOptions, isFactType } from './api.ts';

const PAGE_SIZE = 100;
const REFRESH_MS = 5_000;

/** Returns what an event is about, as far as a line can say: its action, or the connector. */
function describeSubject({ data }: Fact, nameInstance: (key: string) => string): string {
  const { name, action, connector, instance } = data as Readonly<Record<string, unknown>>;
  if (typeof name === 'string') return name;
  if (typeof connector === 'string')
    return nameInstance(typeof instance === 'string' ? toConnectorKey({ connector, instance }) : connector);
  return typeof action === 'string' ? action : '';
}

const createColumns = (nameInstance: (key: string) => string): readonly DataColumn<Fact>[] => [
  {
    id: 'type',
    label: t.columns.type,
    render: ({ type }) => (
      <span className="stack">
        <span className="strong">
          {isFactType(type) && type !== 'audit.entry' ? t.types[type] : text.places.audit}
        </span>
        <small>{type}</small>
      </span>
    ),
  },
  {
    id: 'about',
    label: t.columns.about,
    isSecondary: true,
    isFreeText: true,
    render: (fact) => describeSubject(fact, nameInstance),
  },
  { id: 'at', label: t.columns.at, render: ({ time }) => <Time at={time} as="full" /> },
];

/** Everything that happened, newest first, filtered by type. */
export function Screen() {
  const { filters } = useFilters();
  const types = filters['type'];
  const [shown, setShown] = useState<Fact>();
  const nameInstance = useInstanceNames();
  const columns = useMemo(() => createColumns(nameInstance), [nameInstance]);
  const list = useList({
    key: ['facts', types],
    async load(after, signal) {
      const query = {
        limit: PAGE_SIZE,
        order: 'newest',
        ...(after && { after }),
        ...(types && { types }),
      } as const;
      const page = await unwrap(identity.GET('/api/v1/events', { params: { query }, signal }));
      return { items: page.data, next: page.hasMore ? (page.nextCursor ?? undefined) : undefined };
    },
    refresh: { everyMs: REFRESH_MS, getId: ({ id }) => id },
  });
  return (
    <ListPage<Fact>
      title={text.screens.facts}
      intro={t.intro}
      filters={<SelectFilter label={t.type} name="type" options={factTypeOptions} />}
      list={list}
      columns={columns}
      getId={({ id }) => id}
      onOpen={setShown}
      empty={
        types === undefined ? (
          <Empty title={t.emptyTitle}>{t.emptyAdvice}</Empty>
        ) : (
          <NoMatch title={t.noMatch} />
        )
      }
    >
      {shown && (
        <ModalDialog title={shown.type} isWide onClose={() => setShown(undefined)}>
          <Copyable label={t.content} value={JSON.stringify(shown, undefined, 2)} />
          <div className="actions">
            <Button onPress={() => setShown(undefined)}>{text.close}</Button>
          </div>
        </ModalDialog>
      )}
    </ListPage>
  );
}
