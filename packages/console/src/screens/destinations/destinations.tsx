import { destinations as t } from '#text/destinations';
import { text } from '#text/shared';
import { identity, unwrap } from '../../api/client.ts';
import { Badge } from '../../ui/badge.tsx';
import type { DataColumn } from '../../ui/data-table.tsx';
import { DialogButton, EmptyButton } from '../../ui/dialog-button.tsx';
import { lazyPart } from '../../ui/lazy-part.tsx';
import { ListPage } from '../../ui/list-page.tsx';
import { Empty } from '../../ui/page.tsx';
import { toListPage, toPageQuery, useList } from '../../ui/use-list.ts';
import { describeState, type Destination, DESTINATIONS, getName } from './api.ts';

const CreateDestination = lazyPart(async () => (await import('./edit-destination.tsx')).CreateDestination);

const REFRESH_MS = 10_000;

export function DestinationState({ destination }: { destination: Destination }) {
  const { tone, label } = describeState(destination);
  return <Badge tone={tone}>{label}</Badge>;
}

const columns: readonly DataColumn<Destination>[] = [
  {
    id: 'destination',
    label: t.columns.destination,
    render: (destination) => (
      <span className="stack">
        <span className="strong">{getName(destination)}</span>
        {destination.description !== '' && <small>{destination.url}</small>}
      </span>
    ),
  },
  {
    id: 'state',
    label: t.columns.state,
    render: (destination) => <DestinationState destination={destination} />,
  },
  {
    id: 'form',
    label: t.form,
    isSecondary: true,
    render: ({ form }) => t.forms[form as keyof typeof t.forms],
  },
  {
    id: 'types',
    label: t.columns.types,
    isSecondary: true,
    render: ({ types }) => (types.length === 0 ? t.everything : t.some(types.length)),
  },
];

/** Where the events of the organisation are sent. */
export function Screen() {
  const list = useList({
    key: ['destinations', 'list'],
    load: async (cursor, signal) =>
      toListPage(
        await unwrap(identity.GET(DESTINATIONS, { params: { query: toPageQuery(cursor) }, signal })),
      ),
    refresh: { everyMs: REFRESH_MS, getId: ({ id }) => id },
  });
  return (
    <ListPage
      title={text.screens.destinations}
      intro={t.intro}
      actions={<DialogButton label={t.create} dialog={CreateDestination} />}
      list={list}
      columns={columns}
      getId={({ id }) => id}
      getHref={({ id }) => `/activity/destinations/${id}`}
      empty={
        <Empty title={t.emptyTitle} action={<EmptyButton label={t.createFirst} />}>
          {t.emptyAdvice}
        </Empty>
      }
    />
  );
}
