import { LOCALE, text } from '#text/shared';
import { tools as t } from '#text/tools';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { identity, unwrap } from '../../api/client.ts';
import { useMe } from '../../api/me.ts';
import { Badge } from '../../ui/badge.tsx';
import { type DataColumn, DataTable } from '../../ui/data-table.tsx';
import { FilterToggle, SearchBox } from '../../ui/filters.tsx';
import { lazyPart } from '../../ui/lazy-part.tsx';
import { ListPage } from '../../ui/list-page.tsx';
import { NoMatch } from '../../ui/no-match.tsx';
import { Empty, Page } from '../../ui/page.tsx';
import { QueryView } from '../../ui/query-view.tsx';
import { reveal } from '../../ui/reveal.ts';
import { useFilters } from '../../ui/use-filters.ts';
import { toListPage, toPageQuery, useList } from '../../ui/use-list.ts';
import { type UsableTool, usableToolsQuery } from '../knowledge/api.ts';
import { describeCallers, findObstacle, isWaiting, type OrganisationTool } from './api.ts';
import { Effects } from './effects.tsx';

const ApproveTools = lazyPart(async () => (await import('./approve-tools.tsx')).ApproveTools);

const number = new Intl.NumberFormat(LOCALE);
const tones = {
  new: 'notice',
  changed: 'bad',
  withdrawn: 'neutral',
  disabled: 'neutral',
  hidden: 'neutral',
} as const;

const Name = ({ name, title }: { name: string; title: string | null }) => (
  <span className="stack">
    <code>{name}</code>
    {title !== null && <small>{reveal(title)}</small>}
  </span>
);

/** Who may call a tool, or why nobody can. */
export function Callers({ tool }: { tool: OrganisationTool }) {
  const obstacle = findObstacle(tool);
  if (obstacle)
    return (
      <span className="stack">
        <Badge tone={tones[obstacle]}>{t.states[obstacle]}</Badge>
        <small>{t.hints[obstacle]}</small>
      </span>
    );
  return (
    <span className="stack">
      <span>{describeCallers(tool)}</span>
      {tool.scopes.length > 0 && <small>{t.who.with(tool.scopes)}</small>}
    </span>
  );
}

const Calls = ({ calls, failures }: Pick<OrganisationTool, 'calls' | 'failures'>) =>
  calls === 0 ? (
    t.never
  ) : (
    <span className="stack">
      <span>{number.format(calls)}</span>
      {failures > 0 && <small>{t.failures(number.format(failures))}</small>}
    </span>
  );

const columns: readonly DataColumn<OrganisationTool>[] = [
  { id: 'name', label: t.columns.name, render: Name },
  { id: 'effects', label: t.columns.effects, isSecondary: true, render: Effects },
  {
    id: 'who',
    label: t.columns.who,
    isFreeText: true,
    isSecondary: true,
    render: (tool) => <Callers tool={tool} />,
  },
  { id: 'calls', label: t.columns.calls, isSecondary: true, render: Calls },
];

const foldTool = (tool: OrganisationTool) => (
  <>
    <Effects annotations={tool.annotations} />
    <Callers tool={tool} />
    {tool.calls > 0 && <span>{`${t.columns.calls}: ${number.format(tool.calls)}`}</span>}
  </>
);

const WAITING = 'waiting';

function AllTools() {
  const { filters } = useFilters();
  const [chosen, setChosen] = useState<readonly OrganisationTool[]>();
  const q = filters['q'] ?? '';
  const isWaitingOnly = filters['show'] === WAITING;
  const list = useList({
    key: ['mcp-servers', 'all-tools', q, isWaitingOnly],
    async load(cursor, signal) {
      const query = {
        ...toPageQuery(cursor),
        ...(q !== '' && { q }),
        ...(isWaitingOnly && { isWaiting: 'true' as const }),
      };
      return toListPage(
        await unwrap(identity.GET('/api/v1/mcp-servers/tools/all', { params: { query }, signal })),
      );
    },
  });
  return (
    <ListPage
      title={text.screens.tools}
      intro={t.intro}
      filters={
        <>
          <SearchBox label={t.search} />
          <FilterToggle
            label={t.show.label}
            name="show"
            options={[
              ['all', t.show.all],
              [WAITING, t.show.waiting],
            ]}
          />
        </>
      }
      list={list}
      columns={columns}
      getId={({ name }) => name}
      getHref={({ name }) => `/tools/${encodeURIComponent(name)}`}
      folded={foldTool}
      bulk={[{ label: t.reviewChosen, applies: isWaiting, run: setChosen }]}
      empty={
        q !== '' ? (
          <NoMatch title={t.noMatch} />
        ) : (
          <Empty title={isWaitingOnly ? t.emptyWaiting : t.emptyTitle} />
        )
      }
    >
      {chosen && <ApproveTools tools={chosen.flatMap(toMounted)} onClose={() => setChosen(undefined)} />}
    </ListPage>
  );
}

const toMounted = ({ server, mounted }: OrganisationTool) =>
  server && mounted ? [{ serverId: server.id, name: mounted.name }] : [];

const ownColumns: readonly DataColumn<UsableTool>[] = [
  { id: 'name', label: t.columns.name, render: Name },
  { id: 'effects', label: t.columns.effects, isSecondary: true, render: Effects },
  {
    id: 'from',
    label: t.columns.from,
    isSecondary: true,
    render: ({ server }) => server ?? t.platform,
  },
];

const foldOwn = ({ annotations }: UsableTool) => <Effects annotations={annotations} />;

function OwnTools() {
  const query = useQuery(usableToolsQuery);
  return (
    <Page title={text.screens.tools} intro={t.introForMembers}>
      <QueryView query={query}>
        {(found) => (
          <DataTable
            label={text.screens.tools}
            items={found}
            columns={ownColumns}
            getId={({ name }) => name}
            getHref={({ name }) => `/tools/${encodeURIComponent(name)}`}
            folded={foldOwn}
            empty={<Empty title={t.emptyForMembers} />}
          />
        )}
      </QueryView>
    </Page>
  );
}

/** The remote tools: of administrators all that there are, of members those that they can use. */
export const Screen = () => (useMe().role === 'admin' ? <AllTools /> : <OwnTools />);
