import { serviceAccounts as t } from '#text/service-accounts';
import type { IdentitySchemas } from '@platform/clients/types';
import { useState } from 'react';
import { identity, unwrap } from '../../api/client.ts';
import { text } from '../../text/index.ts';
import { Button } from '../../ui/button.tsx';
import { type DataColumn, DataTable } from '../../ui/data-table.tsx';
import { lazyPart } from '../../ui/lazy-part.tsx';
import { Empty, Page } from '../../ui/page.tsx';
import { QueryView } from '../../ui/query-view.tsx';
import { Time } from '../../ui/time.tsx';
import { useNumberedList } from '../../ui/use-list.ts';

const CreateAccount = lazyPart(async () => (await import('./change-account.tsx')).CreateAccount);

const PAGE_SIZE = 50;

export type ServiceAccount = IdentitySchemas['schemas']['OrganisationServiceAccount'];

const columns: readonly DataColumn<ServiceAccount>[] = [
  { id: 'name', label: t.columns.name, render: ({ name }) => <span className="strong">{name}</span> },
  {
    id: 'role',
    label: t.columns.role,
    render: ({ role }) => text.roles[role as keyof typeof text.roles],
  },
  {
    id: 'uses',
    label: t.columns.uses,
    isSecondary: true,
    render: ({ clientId }) => (clientId === null ? t.ownTokens : t.application),
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
    key: ['service-accounts', 'list'],
    load: (page, signal) =>
      unwrap(
        identity.GET('/api/v1/service-accounts', { params: { query: { page, limit: PAGE_SIZE } }, signal }),
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
        {(accounts) => (
          <DataTable
            label={t.title}
            columns={columns}
            items={accounts}
            more={more}
            getId={({ id }) => id}
            getHref={({ id }) => `/organisation/service-accounts/${id}`}
            empty={<Empty title={t.emptyTitle}>{t.emptyAdvice}</Empty>}
          />
        )}
      </QueryView>
      {isCreating && <CreateAccount onClose={() => setCreating(false)} />}
    </Page>
  );
}
