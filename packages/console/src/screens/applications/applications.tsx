import { applications as t } from '#text/applications';
import { useState } from 'react';
import { identity, unwrap } from '../../api/client.ts';
import { Badge } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { type DataColumn, DataTable } from '../../ui/data-table.tsx';
import { lazyPart } from '../../ui/lazy-part.tsx';
import { Empty, Page } from '../../ui/page.tsx';
import { QueryView } from '../../ui/query-view.tsx';
import { Time } from '../../ui/time.tsx';
import { useNumberedList } from '../../ui/use-list.ts';
import { type Application, getAccess } from './shape.ts';

const CreateApplication = lazyPart(async () => (await import('./create-application.tsx')).CreateApplication);

const PAGE_SIZE = 50;

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

export function Screen() {
  const [isCreating, setCreating] = useState(false);
  const { more, ...query } = useNumberedList({
    key: ['applications', 'list'],
    load: (page, signal) =>
      unwrap(
        identity.GET('/api/v1/oauth-applications', { params: { query: { page, limit: PAGE_SIZE } }, signal }),
      ),
  });
  const create = (
    <Button kind="primary" onPress={() => setCreating(true)}>
      {t.create}
    </Button>
  );
  return (
    <Page title={t.title} intro={t.intro} actions={create}>
      <QueryView query={query}>
        {(found) => (
          <DataTable
            label={t.title}
            columns={columns}
            items={found}
            more={more}
            getId={({ clientId }) => clientId}
            getHref={({ clientId }) => `/organisation/applications/${clientId}`}
            empty={<Empty title={t.emptyTitle}>{t.emptyAdvice}</Empty>}
          />
        )}
      </QueryView>
      {isCreating && <CreateApplication onClose={() => setCreating(false)} />}
    </Page>
  );
}
