import { services as t } from '#text/services';
import { text } from '#text/shared';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { identity, unwrap } from '../../api/client.ts';
import { Badge } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { type DataColumn, DataTable } from '../../ui/data-table.tsx';
import { lazyPart } from '../../ui/lazy-part.tsx';
import { Empty, Page } from '../../ui/page.tsx';
import { QueryView } from '../../ui/query-view.tsx';
import { Time } from '../../ui/time.tsx';
import { describeState, type Service } from './api.ts';
import { Outcome } from './outcome.tsx';

const EndServices = lazyPart(async () => (await import('./connect-service.tsx')).EndServices);

export function ServiceState({ service }: { service: Service }) {
  const { tone, label } = describeState(service);
  return <Badge tone={tone}>{label}</Badge>;
}

const LastUse = ({ connection }: Service) =>
  connection?.lastUsedAt ? <Time at={connection.lastUsedAt} /> : text.never;

const columns: readonly DataColumn<Service>[] = [
  {
    id: 'name',
    label: t.columns.name,
    render: ({ name, origin }) => (
      <span className="stack">
        <span className="strong">{name}</span>
        <small>{origin}</small>
      </span>
    ),
  },
  { id: 'state', label: t.columns.state, render: (service) => <ServiceState service={service} /> },
  {
    id: 'lastUsed',
    label: t.columns.lastUsed,
    isSecondary: true,
    render: (service) => <LastUse {...service} />,
  },
];

/** What a phone shows of a service below its name. */
const foldService = ({ connection }: Service) =>
  connection?.lastUsedAt ? (
    <>
      {t.usedBefore}
      <Time at={connection.lastUsedAt} />
    </>
  ) : (
    t.neverUsed
  );

/** The servers that one's agents use as oneself. */
export function Screen() {
  const [isEnding, setIsEnding] = useState(false);
  const query = useQuery({
    queryKey: ['services', 'all'],
    queryFn: async ({ signal }) => (await unwrap(identity.GET('/api/v1/mcp-servers/mine', { signal }))).data,
  });
  const isAnyConnected = query.data?.some(({ connection }) => connection !== null);
  return (
    <Page
      title={text.screens.services}
      intro={t.intro}
      actions={isAnyConnected && <Button onPress={() => setIsEnding(true)}>{t.endAll}</Button>}
    >
      <Outcome />
      <QueryView query={query}>
        {(found) => (
          <DataTable
            label={text.screens.services}
            columns={columns}
            items={found}
            getId={({ id }) => id}
            getHref={({ id }) => `/account/services/${id}`}
            folded={foldService}
            empty={<Empty title={t.emptyTitle}>{t.emptyAdvice}</Empty>}
          />
        )}
      </QueryView>
      {isEnding && <EndServices onClose={() => setIsEnding(false)} />}
    </Page>
  );
}
