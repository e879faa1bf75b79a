import { access } from '#text/access';
import { mcpServers } from '#text/mcp-servers';
import { tools } from '#text/tools';
import { useMemo, useState } from 'react';
import { identity, unwrap } from '../../api/client.ts';
import { Badge } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import type { DataColumn } from '../../ui/data-table.tsx';
import { lazyPart } from '../../ui/lazy-part.tsx';
import { ListView } from '../../ui/list-page.tsx';
import { createMenuColumn } from '../../ui/menu.tsx';
import { Empty, Section } from '../../ui/page.tsx';
import { toListPage, toPageQuery, useList } from '../../ui/use-list.ts';
import { describeAccess } from '../groups/describe-access.ts';
import { Effects } from '../tools/effects.tsx';
import type { Tool } from './api.ts';

const ReviewTool = lazyPart(async () => (await import('./review-tool.tsx')).ReviewTool);

const ToolAccess = lazyPart(async () => (await import('../access/tool-access.tsx')).ToolAccess);

const ApproveTools = lazyPart(async () => (await import('../tools/approve-tools.tsx')).ApproveTools);

const t = mcpServers.tools;
const tones = { new: 'notice', changed: 'notice', approved: 'good', withdrawn: 'neutral' } as const;

const readColumns: readonly DataColumn<Tool>[] = [
  {
    id: 'name',
    label: t.columns.name,
    render: ({ name, mountedName, flags }) => (
      <span className="stack">
        <code>{mountedName}</code>
        {!mountedName.endsWith(`__${name}`) && <small>{t.ownName(name)}</small>}
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
    id: 'effects',
    label: tools.columns.effects,
    isSecondary: true,
    render: ({ hints }) => <Effects annotations={hints} />,
  },
  {
    id: 'scope',
    label: t.columns.scope,
    isSecondary: true,
    render: ({ effectiveScope, allowedGroups }) =>
      effectiveScope === null ? (
        `${t.hidden}: ${t.hiddenHint}`
      ) : (
        <span className="stack">
          <code>{effectiveScope}</code>
          {allowedGroups !== null && <small>{describeAccess(allowedGroups)}</small>}
        </span>
      ),
  },
];

interface ToolDialog {
  readonly kind: 'review' | 'access';
  readonly tool: Tool;
}

const createColumns = (open: (dialog: ToolDialog) => void): readonly DataColumn<Tool>[] => [
  ...readColumns,
  createMenuColumn<Tool>({
    getName: ({ name }) => name,
    listActions: (tool) => [
      { label: t.review, run: () => open({ kind: 'review', tool }) },
      { label: access.open, run: () => open({ kind: 'access', tool }) },
    ],
  }),
];

/** The tools that a server offers, and which of them agents see. */
export function Tools({ serverId }: { serverId: string }) {
  const [dialog, setDialog] = useState<ToolDialog>();
  const close = (): void => setDialog(undefined);
  const columns = useMemo(() => createColumns(setDialog), []);
  const list = useList({
    key: ['mcp-servers', 'tools', serverId],
    async load(cursor, signal) {
      const params = { path: { id: serverId }, query: toPageQuery(cursor) };
      return toListPage(await unwrap(identity.GET('/api/v1/mcp-servers/{id}/tools', { params, signal })));
    },
  });
  const waiting = (list.data ?? []).filter(
    ({ state, scope }) => (state === 'new' || state === 'changed') && scope !== 'none',
  );
  const [toApprove, setToApprove] = useState<readonly Tool[]>();
  return (
    <Section
      title={t.title}
      actions={
        waiting.length > 0 && (
          <Button onPress={() => setToApprove(waiting)}>{tools.reviewAll(waiting.length)}</Button>
        )
      }
    >
      <ListView
        label={t.title}
        list={list}
        columns={columns}
        getId={({ name }) => name}
        empty={<Empty title={t.emptyTitle}>{t.emptyAdvice}</Empty>}
      />
      {toApprove && (
        <ApproveTools
          tools={toApprove.map(({ name }) => ({ serverId, name }))}
          onClose={() => setToApprove(undefined)}
        />
      )}
      {dialog?.kind === 'review' && (
        <ReviewTool serverId={serverId} name={dialog.tool.name} onClose={close} />
      )}
      {dialog?.kind === 'access' && (
        <ToolAccess name={dialog.tool.mountedName} scope={dialog.tool.effectiveScope} onClose={close} />
      )}
    </Section>
  );
}
