import { mcpServers as t } from '#text/mcp-servers';
import { useState } from 'react';
import { identity, unwrap } from '../../api/client.ts';
import { Badge } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { type DataColumn, DataTable } from '../../ui/data-table.tsx';
import { lazyPart } from '../../ui/lazy-part.tsx';
import { Empty, Page } from '../../ui/page.tsx';
import { QueryView } from '../../ui/query-view.tsx';
import { Time } from '../../ui/time.tsx';
import { useList } from '../../ui/use-list.ts';
import { text } from '../../text/index.ts';
import { describeState, type Server } from './servers-api.ts';

const CreateServer = lazyPart(async () => (await import('./edit-server.tsx')).CreateServer);

const PAGE_SIZE = 50;
const REFRESH_MS = 10_000;

export function ServerState({ server }: { server: Server }) {
  const { tone, label } = describeState(server);
  return <Badge tone={tone}>{label}</Badge>;
}

const columns: readonly DataColumn<Server>[] = [
  {
    id: 'name',
    label: t.columns.name,
    render: ({ name, url }) => (
      <span className="stack">
        <span className="strong">{name}</span>
        <small>{url}</small>
      </span>
    ),
  },
  { id: 'state', label: t.columns.state, render: (server) => <ServerState server={server} /> },
  {
    id: 'tools',
    label: t.columns.tools,
    isSecondary: true,
    render: ({ tools }) => t.counts(tools.offered, tools.waiting),
  },
  {
    id: 'refreshed',
    label: t.columns.refreshed,
    isSecondary: true,
    render: ({ refreshedAt }) => (refreshedAt === null ? text.never : <Time at={refreshedAt} />),
  },
];

export function Screen() {
  const [isCreating, setCreating] = useState(false);
  const { more, ...query } = useList({
    key: ['mcp-servers', 'list'],
    refreshMs: REFRESH_MS,
    async load(cursor, signal) {
      const page = await unwrap(
        identity.GET('/api/v1/mcp-servers', {
          params: { query: { limit: PAGE_SIZE, ...(cursor !== undefined && { cursor }) } },
          signal,
        }),
      );
      return { items: page.data, next: page.nextCursor ?? undefined };
    },
  });
  const create = (
    <Button kind="primary" onPress={() => setCreating(true)}>
      {t.create}
    </Button>
  );
  return (
    <Page title={t.title} intro={t.intro} actions={create}>
      <QueryView query={query}>
        {(servers) => (
          <DataTable
            label={t.title}
            columns={columns}
            items={servers}
            more={more}
            getId={({ id }) => id}
            getHref={({ id }) => `/organisation/mcp-servers/${id}`}
            empty={<Empty title={t.emptyTitle}>{t.emptyAdvice}</Empty>}
          />
        )}
      </QueryView>
      {isCreating && <CreateServer onClose={() => setCreating(false)} />}
    </Page>
  );
}
