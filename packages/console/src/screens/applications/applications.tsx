import { applications as t } from '#text/applications';
import { text } from '#text/shared';
import { useState } from 'react';
import { identity, unwrap } from '../../api/client.ts';
import { Badge } from '../../ui/badge.tsx';
import type { DataColumn } from '../../ui/data-table.tsx';
import { DialogButton, EmptyButton } from '../../ui/dialog-button.tsx';
import { SearchBox } from '../../ui/filters.tsx';
import { lazyPart } from '../../ui/lazy-part.tsx';
import { ListPage } from '../../ui/list-page.tsx';
import { Empty } from '../../ui/page.tsx';
import { Time } from '../../ui/time.tsx';
import { NoMatch } from '../../ui/no-match.tsx';
import { useFilters } from '../../ui/use-filters.ts';
import { toListPage, toPageQuery, useList } from '../../ui/use-list.ts';
import { type Application, getAccess } from './shape.ts';

const CreateApplication = lazyPart(async () => (await import('./create-application.tsx')).CreateApplication);
const DisableApplications = lazyPart(
  async () => (await import('./change-application.tsx')).DisableApplications,
);

const columns: readonly DataColumn<Application>[] = [
  { id: 'name', label: t.columns.name, render: ({ name }) => <span className="strong">{name}</span> },
  {
    id: 'access',
    label: t.columns.access,
    isSecondary: true,
    render: (application) => t.accessKinds[getAccess(application)].label,
  },
  {
    id: 'state',
    label: t.columns.state,
    render: ({ isDisabled }) => (
      <Badge tone={isDisabled ? 'notice' : 'good'}>{isDisabled ? t.states.disabled : t.states.active}</Badge>
    ),
  },
  {
    id: 'lastUsed',
    label: t.columns.lastUsed,
    isSecondary: true,
    render: ({ lastUsedAt }) => (lastUsedAt === null ? t.neverUsed : <Time at={lastUsedAt} />),
  },
  {
    id: 'created',
    label: t.columns.created,
    isSecondary: true,
    render: ({ createdAt }) => <Time at={createdAt} as="day" />,
  },
];

const isEnabled = ({ isDisabled }: Application): boolean => !isDisabled;

export function Screen() {
  const [bulk, setBulk] = useState<readonly Application[]>();
  const q = useFilters().filters['q']?.trim() ?? '';
  const list = useList({
    key: ['applications', 'list', q],
    async load(cursor, signal) {
      const query = { ...toPageQuery(cursor), ...(q && { q }) };
      return toListPage(
        await unwrap(identity.GET('/api/v1/oauth-applications', { params: { query }, signal })),
      );
    },
  });
  return (
    <ListPage
      title={text.screens.applications}
      intro={t.intro}
      actions={<DialogButton label={t.create} dialog={CreateApplication} />}
      filters={<SearchBox label={t.filter} />}
      bulk={[{ label: t.disable, applies: isEnabled, run: setBulk }]}
      list={list}
      columns={columns}
      getId={({ clientId }) => clientId}
      getHref={({ clientId }) => `/organisation/applications/${clientId}`}
      empty={
        q === '' ? (
          <Empty title={t.emptyTitle} action={<EmptyButton label={t.createFirst} />}>
            {t.emptyAdvice}
          </Empty>
        ) : (
          <NoMatch title={t.noMatch} />
        )
      }
    >
      {bulk && <DisableApplications applications={bulk} onClose={() => setBulk(undefined)} />}
    </ListPage>
  );
}
