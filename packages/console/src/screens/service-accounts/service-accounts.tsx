import { serviceAccounts as t } from '#text/service-accounts';
import { text } from '#text/shared';
import { useState } from 'react';
import { identity, unwrap } from '../../api/client.ts';
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
import type { ServiceAccount } from './api.ts';

const CreateAccount = lazyPart(async () => (await import('./change-account.tsx')).CreateAccount);
const RemoveAccounts = lazyPart(async () => (await import('./change-account.tsx')).RemoveAccounts);

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

/** The account of an application goes with that. */
const isRemovable = ({ clientId }: ServiceAccount): boolean => clientId === null;

export function Screen() {
  const [bulk, setBulk] = useState<readonly ServiceAccount[]>();
  const q = useFilters().filters['q']?.trim() ?? '';
  const list = useList({
    key: ['service-accounts', 'list', q],
    async load(cursor, signal) {
      const query = { ...toPageQuery(cursor), ...(q && { q }) };
      return toListPage(
        await unwrap(identity.GET('/api/v1/service-accounts', { params: { query }, signal })),
      );
    },
  });
  return (
    <ListPage
      title={text.screens.serviceAccounts}
      intro={t.intro}
      actions={<DialogButton label={t.create} dialog={CreateAccount} />}
      filters={<SearchBox label={t.filter} />}
      bulk={[{ label: t.remove, applies: isRemovable, run: setBulk }]}
      list={list}
      columns={columns}
      getId={({ id }) => id}
      getHref={({ id }) => `/organisation/service-accounts/${id}`}
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
      {bulk && <RemoveAccounts accounts={bulk} onClose={() => setBulk(undefined)} />}
    </ListPage>
  );
}
