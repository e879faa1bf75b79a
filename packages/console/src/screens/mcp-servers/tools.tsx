import { mcpServers } from '#text/mcp-servers';
import { useState } from 'react';
import { identity, unwrap } from '../../api/client.ts';
import { Badge } from '../../ui/badge.tsx';
import { type DataColumn, DataTable } from '../../ui/data-table.tsx';
import { lazyPart } from '../../ui/lazy-part.tsx';
import { createMenuColumn } from '../../ui/menu.tsx';
import { Empty, Section } from '../../ui/page.tsx';
import { QueryView } from '../../ui/query-view.tsx';
import { useList } from '../../ui/use-list.ts';
import type { Tool } from './servers-api.ts';

const ReviewTool = lazyPart(async () => (await import('./review-tool.tsx')).ReviewTool);

const t = mcpServers.tools;
const PAGE_SIZE = 50;
const tones = { new: 'notice', changed: 'notice', approved: 'good', withdrawn: 'neutral' } as const;

const columns: readonly DataColumn<Tool>[] = [
  {
    id: 'name',
    label: t.columns.name,
    render: ({ name, mountedName, flags }) => (
      <span className="stack">
        <code>{mountedName ?? name}</code>
        {mountedName === null && <small>{t.unusableName}</small>}
        {flags.map((flag) => (
          <Badge key={flag} tone="bad">
            {t.flags[flag]}
          </Badge>
        ))}
      </span>
    ),
  },
  {
    id: 'state',
    label: t.columns.state,
    render: ({ state }) => <Badge tone={tones[state]}>{t.states[state]}</Badge>,
  },
  {
    id: 'scope',
    label: t.columns.scope,
    isSecondary: true,
    render: ({ effectiveScope }) =>
      effectiveScope === null ? `${t.hidden}: ${t.hiddenHint}` : <code>{effectiveScope}</code>,
  },
];

/** What a server offers, and what of it agents see. */
export function Tools({ serverId }: { serverId: string }) {
  const [reviewed, setReviewed] = useState<Tool>();
  const { more, ...query } = useList({
    key: ['mcp-servers', 'tools', serverId],
    async load(cursor, signal) {
      const page = await unwrap(
        identity.GET('/api/v1/mcp-servers/{id}/tools', {
          params: {
            path: { id: serverId },
            query: { limit: PAGE_SIZE, ...(cursor !== undefined && { cursor }) },
          },
          signal,
        }),
      );
      return { items: page.data, next: page.nextCursor ?? undefined };
    },
  });
  const menu = createMenuColumn<Tool>({
    getName: ({ name }) => name,
    listActions: (tool) => [{ label: t.review, run: () => setReviewed(tool) }],
  });
  return (
    <Section title={t.title}>
      <QueryView query={query}>
        {(tools) => (
          <DataTable
            label={t.title}
            columns={[...columns, menu]}
            items={tools}
            more={more}
            getId={({ name }) => name}
            empty={<Empty title={t.emptyTitle}>{t.emptyAdvice}</Empty>}
          />
        )}
      </QueryView>
      {reviewed && (
        <ReviewTool serverId={serverId} name={reviewed.name} onClose={() => setReviewed(undefined)} />
      )}
    </Section>
  );
}
