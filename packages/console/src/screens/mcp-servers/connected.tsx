import { mcpServers } from '#text/mcp-servers';
import { text } from '#text/shared';
import { useMemo, useState } from 'react';
import { identity, unwrap } from '../../api/client.ts';
import { ActionDialog } from '../../ui/action-dialog.tsx';
import { Badge } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import type { DataColumn } from '../../ui/data-table.tsx';
import { ListView } from '../../ui/list-page.tsx';
import { createMenuColumn } from '../../ui/menu.tsx';
import { Empty, Section } from '../../ui/page.tsx';
import { Time } from '../../ui/time.tsx';
import { toListPage, toPageQuery, useList } from '../../ui/use-list.ts';
import type { AccountCredential } from './api.ts';

const t = mcpServers.personal;

const readColumns: readonly DataColumn<AccountCredential>[] = [
  {
    id: 'account',
    label: t.columns.account,
    render: ({ account }) => (
      <span className="stack">
        <span className="strong">{account.name}</span>
        <small>{account.email ?? t.serviceAccount}</small>
      </span>
    ),
  },
  {
    id: 'state',
    label: t.columns.state,
    render: ({ refusedAt }) => (
      <Badge tone={refusedAt === null ? 'good' : 'bad'}>
        {refusedAt === null ? t.states.connected : t.states.refused}
      </Badge>
    ),
  },
  {
    id: 'lastUsed',
    label: t.columns.lastUsed,
    isSecondary: true,
    render: ({ lastUsedAt }) => (lastUsedAt === null ? text.never : <Time at={lastUsedAt} />),
  },
  {
    id: 'since',
    label: t.columns.since,
    isSecondary: true,
    render: ({ connectedAt }) => <Time at={connectedAt} as="day" />,
  },
];

const createColumns = (
  end: (credential: AccountCredential) => void,
): readonly DataColumn<AccountCredential>[] => [
  ...readColumns,
  createMenuColumn<AccountCredential>({
    getName: ({ account }) => account.name,
    listActions: (credential) => [{ label: t.end, isDangerous: true, run: () => end(credential) }],
  }),
];

/** Who uses a server with a key of their own. Nobody sees the keys. */
export function Connected({ serverId }: { serverId: string }) {
  const [ended, setEnded] = useState<AccountCredential>();
  const [isAsking, setIsAsking] = useState(false);
  const columns = useMemo(() => createColumns(setEnded), []);
  const list = useList({
    key: ['mcp-servers', 'credentials', serverId],
    async load(cursor, signal) {
      const params = { path: { id: serverId }, query: toPageQuery(cursor) };
      return toListPage(
        await unwrap(identity.GET('/api/v1/mcp-servers/{id}/credentials', { params, signal })),
      );
    },
  });
  return (
    <Section title={t.connected} actions={<Button onPress={() => setIsAsking(true)}>{t.ask}</Button>}>
      <ListView
        label={t.connected}
        list={list}
        columns={columns}
        getId={({ account }) => account.id}
        empty={<Empty title={t.emptyTitle}>{t.emptyAdvice}</Empty>}
      />
      {isAsking && (
        <ActionDialog
          title={t.askTitle}
          action={t.askSubmit}
          changes={['mcp-servers', 'credentials', serverId]}
          act={() => {
            const params = { path: { id: serverId } };
            return unwrap(identity.POST('/api/v1/mcp-servers/{id}/credentials/requests', { params }));
          }}
          describe={t.asked}
          onClose={() => setIsAsking(false)}
        >
          <p>{t.askWarning}</p>
        </ActionDialog>
      )}
      {ended && (
        <ActionDialog
          title={t.endTitle(ended.account.name)}
          action={t.endSubmit}
          isDangerous
          changes={['mcp-servers']}
          act={() => {
            const params = { path: { id: serverId, accountId: ended.account.id } };
            return unwrap(identity.DELETE('/api/v1/mcp-servers/{id}/credentials/{accountId}', { params }));
          }}
          describe={() => t.ended(ended.account.name)}
          onClose={() => setEnded(undefined)}
        >
          <p>{t.endWarning}</p>
        </ActionDialog>
      )}
    </Section>
  );
}
