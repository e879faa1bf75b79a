import { apps } from '#text/apps';
import { facts } from '#text/facts';
import { useQuery } from '@tanstack/react-query';
import { useMemo, useState } from 'react';
import { identity, unwrap } from '../../api/client.ts';
import { Badge } from '../../ui/badge.tsx';
import { type DataColumn, DataTable } from '../../ui/data-table.tsx';
import { getConnectorName } from '../../ui/connector-name.ts';
import { lazyPart } from '../../ui/lazy-part.tsx';
import { ListView } from '../../ui/list-page.tsx';
import { createMenuColumn } from '../../ui/menu.tsx';
import { Section } from '../../ui/page.tsx';
import { Time } from '../../ui/time.tsx';
import { toListPage, toPageQuery, useList } from '../../ui/use-list.ts';
import type { EventSubscription, OwnedSubscription } from './api.ts';

const t = apps.subscriptions;
const StopSubscription = lazyPart(async () => (await import('./stop-subscription.tsx')).StopSubscription);

const labels: Readonly<Record<string, string>> = { ...facts.types, ...t.events };
export const describeEvent = ({ event }: Pick<EventSubscription, 'event'>): string => labels[event] ?? event;

function describeArguments({ arguments: args }: EventSubscription): string {
  const { connector, instance, minFailures } = args;
  const words = [
    typeof connector === 'string' && getConnectorName(connector),
    typeof instance === 'string' && t.instance(instance),
    typeof minFailures === 'number' && t.minFailures(minFailures),
  ];
  return words.filter(Boolean).join(', ');
}

function LastDelivery({ lastDeliveredAt, failingSince }: EventSubscription) {
  return (
    <span className="stack">
      {failingSince === null ? null : (
        <span>
          <Badge tone="bad">{t.failing}</Badge>
        </span>
      )}
      {lastDeliveredAt === null ? t.never : <Time at={lastDeliveredAt} />}
    </span>
  );
}

const eventColumn: DataColumn<EventSubscription> = {
  id: 'event',
  label: t.columns.event,
  render: (subscription) => (
    <span className="stack">
      <span className="strong">{describeEvent(subscription)}</span>
      <small>{describeArguments(subscription)}</small>
    </span>
  ),
};
const hostColumn: DataColumn<EventSubscription> = {
  id: 'host',
  label: t.columns.host,
  isFreeText: true,
  isSecondary: true,
  render: ({ host, credential }) => (
    <span className="stack">
      <span>{host}</span>
      <small>{t.by(credential.name)}</small>
    </span>
  ),
};
const ownerColumn: DataColumn<OwnedSubscription> = {
  id: 'owner',
  label: apps.columns.owner,
  isFreeText: true,
  isSecondary: true,
  render: ({ owner }) => (
    <span className="stack">
      <span>{owner.name}</span>
      <small>{owner.email ?? t.serviceAccount}</small>
    </span>
  ),
};
const createUseColumns = <Item extends EventSubscription>(
  onStop: (subscription: Item) => void,
): readonly DataColumn<Item>[] => [
  { id: 'last', label: t.columns.last, isSecondary: true, render: (item) => <LastDelivery {...item} /> },
  createMenuColumn({
    getName: (item: Item) => describeEvent(item),
    listActions: (item: Item) => [{ label: t.stop, isDangerous: true, run: () => onStop(item) }],
  }),
];

const fold = (subscription: EventSubscription) => (
  <>
    <span>{subscription.host}</span>
    <small>{t.by(subscription.credential.name)}</small>
    <LastDelivery {...subscription} />
  </>
);
const foldOwned = (subscription: OwnedSubscription) => (
  <>
    <span>{subscription.owner.name}</span>
    {fold(subscription)}
  </>
);

/** The events that one's own agents are sent; nothing while there are none. */
export function OwnSubscriptions() {
  const [stopping, setStopping] = useState<EventSubscription>();
  const columns = useMemo(() => [eventColumn, hostColumn, ...createUseColumns(setStopping)], []);
  const { data = [] } = useQuery({
    queryKey: ['apps', 'subscriptions', 'own'],
    queryFn: async ({ signal }) =>
      (await unwrap(identity.GET('/api/v1/events/subscriptions', { signal }))).data,
  });
  if (data.length === 0) return null;
  return (
    <Section title={t.title}>
      <p className="hint">{t.intro}</p>
      <DataTable
        label={t.title}
        columns={columns}
        items={data}
        getId={({ id }) => id}
        folded={fold}
        empty={null}
      />
      {stopping && <StopSubscription subscription={stopping} onClose={() => setStopping(undefined)} />}
    </Section>
  );
}

/** The events that agents of the organisation are sent; nothing while there are none. */
export function AllSubscriptions() {
  const [stopping, setStopping] = useState<OwnedSubscription>();
  const columns = useMemo(
    () => [eventColumn, hostColumn, ownerColumn, ...createUseColumns<OwnedSubscription>(setStopping)],
    [],
  );
  const list = useList({
    key: ['apps', 'subscriptions', 'all'],
    load: async (cursor, signal) =>
      toListPage(
        await unwrap(
          identity.GET('/api/v1/events/subscriptions/admin', {
            params: { query: toPageQuery(cursor) },
            signal,
          }),
        ),
      ),
  });
  if (list.data === undefined || list.data.length === 0) return null;
  return (
    <Section title={t.title}>
      <p className="hint">{t.allIntro}</p>
      <ListView
        label={t.title}
        list={list}
        columns={columns}
        getId={({ id }) => id}
        folded={foldOwned}
        empty={null}
      />
      {stopping && (
        <StopSubscription
          subscription={stopping}
          owner={stopping.owner.name}
          onClose={() => setStopping(undefined)}
        />
      )}
    </Section>
  );
}
