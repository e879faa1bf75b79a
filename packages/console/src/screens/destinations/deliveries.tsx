import { destinations as t } from '#text/destinations';
import { text } from '#text/shared';
import { useState } from 'react';
import { identity, unwrap } from '../../api/client.ts';
import { ActionDialog } from '../../ui/action-dialog.tsx';
import { Badge, type Tone } from '../../ui/badge.tsx';
import { type DataColumn, DataTable } from '../../ui/data-table.tsx';
import { FilterBar, FilterToggle } from '../../ui/filters.tsx';
import { ListView, Total } from '../../ui/list-page.tsx';
import { NoMatch } from '../../ui/no-match.tsx';
import { Empty, Section } from '../../ui/page.tsx';
import { Time } from '../../ui/time.tsx';
import { useFilters } from '../../ui/use-filters.ts';
import { toListPage, toPageQuery, useList } from '../../ui/use-list.ts';
import { type Delivery, DESTINATION } from './api.ts';

const words = t.deliveries;
type State = keyof typeof words.states;
type Attempt = Delivery['attempts'][number];

const REFRESH_MS = 5_000;
const tones: Readonly<Record<State, Tone>> = { waiting: 'busy', delivered: 'good', failed: 'bad' };
const isState = (state: string | undefined): state is State =>
  state !== undefined && Object.hasOwn(words.states, state);

const describeContent = ({ type, facts: count }: Delivery): string => type ?? words.batch(count);
const describeAttempt = ({ fault, status }: Attempt): string =>
  [fault === null ? words.accepted : t.faults[fault], status !== null && t.status(status)]
    .filter(Boolean)
    .join('. ');

const columns: readonly DataColumn<Delivery>[] = [
  {
    id: 'what',
    label: words.columns.what,
    render: (delivery) => (
      <span className="stack">
        <span className="strong">{describeContent(delivery)}</span>
        {delivery.factId !== null && <small>{delivery.factId}</small>}
      </span>
    ),
  },
  {
    id: 'state',
    label: words.columns.state,
    render: ({ state }) => isState(state) && <Badge tone={tones[state]}>{words.states[state]}</Badge>,
  },
  {
    id: 'attempts',
    label: words.columns.attempts,
    isSecondary: true,
    render: ({ attempts }) => attempts.length,
  },
  {
    id: 'at',
    label: words.columns.at,
    isSecondary: true,
    render: ({ createdAt }) => <Time at={createdAt} as="full" />,
  },
];

/** The deliveries to a destination: sent, and waiting for another attempt. */
export function Deliveries({ destinationId: id }: { destinationId: string }) {
  const { filters } = useFilters();
  const { state } = filters;
  const [opened, setOpened] = useState<Delivery>();
  const list = useList({
    key: ['destinations', 'deliveries', id, state],
    load: async (cursor, signal) => {
      const query = { ...toPageQuery(cursor), ...(isState(state) && { state }) };
      return toListPage(
        await unwrap(identity.GET(`${DESTINATION}/deliveries`, { params: { path: { id }, query }, signal })),
      );
    },
    refresh: { everyMs: REFRESH_MS, getId: (delivery) => delivery.id },
  });
  // It may leave the list while it is open, such as the list of waiting ones.
  const shown = opened && (list.data?.find(({ id: listed }) => listed === opened.id) ?? opened);
  return (
    <Section title={words.title}>
      <FilterBar>
        <FilterToggle
          label={words.state}
          name="state"
          options={[['', text.all], ...Object.entries(words.states)]}
        />
        <Total of={list.total} />
      </FilterBar>
      <ListView
        label={words.title}
        list={list}
        columns={columns}
        getId={(delivery) => delivery.id}
        onOpen={setOpened}
        empty={
          state === undefined ? (
            <Empty title={words.emptyTitle}>{words.emptyAdvice}</Empty>
          ) : (
            <NoMatch title={words.noMatch} />
          )
        }
      />
      {shown && <DeliveryDialog destinationId={id} delivery={shown} onClose={() => setOpened(undefined)} />}
    </Section>
  );
}

const attemptColumns: readonly DataColumn<Attempt>[] = [
  { id: 'at', label: t.deliveries.columns.tried, render: ({ at }) => <Time at={at} as="full" /> },
  { id: 'result', label: words.columns.state, render: describeAttempt },
];

interface DeliveryDialogProps {
  readonly destinationId: string;
  readonly delivery: Delivery;
  onClose(): void;
}

const DeliveryDialog = ({ destinationId, delivery, onClose }: DeliveryDialogProps) => (
  <ActionDialog
    title={describeContent(delivery)}
    action={words.sendAgain}
    leave={text.close}
    isWide
    changes={['destinations']}
    act={() =>
      unwrap(
        identity.POST(`${DESTINATION}/deliveries/{deliveryId}/send-again`, {
          params: { path: { id: destinationId, deliveryId: delivery.id } },
        }),
      )
    }
    describe={() => words.sent}
    onClose={onClose}
  >
    <DataTable
      label={words.attempts}
      columns={attemptColumns}
      items={delivery.attempts}
      getId={({ at }) => at}
      empty={null}
    />
    {delivery.nextAttemptAt !== null && (
      <p>
        {words.next}: <Time at={delivery.nextAttemptAt} as="full" />
      </p>
    )}
  </ActionDialog>
);
