import { token } from '#text/token';
import type { IdentitySchemas } from '@platform/clients/types';
import { identity, unwrap } from '../../api/client.ts';
import { Badge } from '../../ui/badge.tsx';
import type { DataColumn } from '../../ui/data-table.tsx';
import { ListView } from '../../ui/list-page.tsx';
import { Empty } from '../../ui/page.tsx';
import { Time } from '../../ui/time.tsx';
import { toListPage, toPageQuery, useList } from '../../ui/use-list.ts';

const t = token.calls;
const PAGE_SIZE = 20;

type ToolCall = IdentitySchemas['schemas']['ToolCall'];

const columns: readonly DataColumn<ToolCall>[] = [
  { id: 'tool', label: t.columns.tool, render: ({ tool }) => <code>{tool}</code> },
  {
    id: 'outcome',
    label: t.columns.outcome,
    render: ({ outcome }) => (
      <Badge tone={outcome === 'completed' ? 'good' : 'notice'}>
        {t.outcomes[outcome as keyof typeof t.outcomes] ?? outcome}
      </Badge>
    ),
  },
  {
    id: 'client',
    label: t.columns.client,
    isFreeText: true,
    isSecondary: true,
    render: ({ client }) => client ?? '',
  },
  {
    id: 'duration',
    label: t.columns.duration,
    isSecondary: true,
    render: ({ durationMs }) => t.milliseconds(durationMs),
  },
  { id: 'at', label: t.columns.at, isSecondary: true, render: ({ createdAt }) => <Time at={createdAt} /> },
];

/** The remote tools that were called with a token, newest first. */
export function ToolCalls({ tokenId }: { tokenId: string }) {
  const list = useList({
    key: ['tokens', 'calls', tokenId],
    async load(cursor, signal) {
      const params = { path: { tokenId }, query: toPageQuery(cursor, PAGE_SIZE) };
      const path = '/api/v1/personal-access-tokens/{tokenId}/activity';
      return toListPage(await unwrap(identity.GET(path, { params, signal })));
    },
    refresh: { everyMs: 10_000, getId: ({ id }) => id },
  });
  return (
    <ListView
      label={t.title}
      list={list}
      columns={columns}
      getId={({ id }) => id}
      empty={<Empty title={t.emptyTitle}>{t.emptyAdvice}</Empty>}
    />
  );
}
