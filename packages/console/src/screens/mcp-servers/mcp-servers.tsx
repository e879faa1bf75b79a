import { mcpServers as t } from '#text/mcp-servers';
import { text } from '#text/shared';
import { identity, unwrap } from '../../api/client.ts';
import { Badge } from '../../ui/badge.tsx';
import type { DataColumn } from '../../ui/data-table.tsx';
import { DialogButton, EmptyButton } from '../../ui/dialog-button.tsx';
import { lazyPart } from '../../ui/lazy-part.tsx';
import { ListPage } from '../../ui/list-page.tsx';
import { Empty } from '../../ui/page.tsx';
import { Time } from '../../ui/time.tsx';
import { toListPage, toPageQuery, useList } from '../../ui/use-list.ts';
import { describeState, type Server } from './api.ts';

const CreateServer = lazyPart(async () => (await import('./edit-server.tsx')).CreateServer);

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
  const list = useList({
    key: ['mcp-servers', 'list'],
    load: async (cursor, signal) =>
      toListPage(
        await unwrap(identity.GET('/api/v1/mcp-servers', { params: { query: toPageQuery(cursor) }, signal })),
      ),
    refresh: { everyMs: REFRESH_MS, getId: ({ id }) => id },
  });
  return (
    <ListPage
      title={text.screens.mcpServers}
      intro={t.intro}
      actions={<DialogButton label={t.create} dialog={CreateServer} />}
      list={list}
      columns={columns}
      getId={({ id }) => id}
      getHref={({ id }) => `/organisation/mcp-servers/${id}`}
      empty={
        <Empty title={t.emptyTitle} action={<EmptyButton label={t.createFirst} />}>
          {t.emptyAdvice}
        </Empty>
      }
    />
  );
}
