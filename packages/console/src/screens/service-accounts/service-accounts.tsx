import { serviceAccounts as t } from '#text/service-accounts';
import { text } from '#text/shared';
import { identity, unwrap } from '../../api/client.ts';
import type { DataColumn } from '../../ui/data-table.tsx';
import { DialogButton, EmptyButton } from '../../ui/dialog-button.tsx';
import { lazyPart } from '../../ui/lazy-part.tsx';
import { ListPage } from '../../ui/list-page.tsx';
import { Empty } from '../../ui/page.tsx';
import { Time } from '../../ui/time.tsx';
import { toListPage, toPageQuery, useList } from '../../ui/use-list.ts';
import type { ServiceAccount } from './api.ts';

const CreateAccount = lazyPart(async () => (await import('./change-account.tsx')).CreateAccount);

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
  const list = useList({
    key: ['service-accounts', 'list'],
    load: async (cursor, signal) =>
      toListPage(
        await unwrap(
          identity.GET('/api/v1/service-accounts', { params: { query: toPageQuery(cursor) }, signal }),
        ),
      ),
  });
  return (
    <ListPage
      title={text.screens.serviceAccounts}
      intro={t.intro}
      actions={<DialogButton label={t.create} dialog={CreateAccount} />}
      list={list}
      columns={columns}
      getId={({ id }) => id}
      getHref={({ id }) => `/organisation/service-accounts/${id}`}
      empty={
        <Empty title={t.emptyTitle} action={<EmptyButton label={t.createFirst} />}>
          {t.emptyAdvice}
        </Empty>
      }
    />
  );
}
