import { groups as t } from '#text/groups';
import { LOCALE, text } from '#text/shared';
import { identity, unwrap } from '../../api/client.ts';
import type { DataColumn } from '../../ui/data-table.tsx';
import { DialogButton, EmptyButton } from '../../ui/dialog-button.tsx';
import { SearchBox } from '../../ui/filters.tsx';
import { lazyPart } from '../../ui/lazy-part.tsx';
import { ListPage } from '../../ui/list-page.tsx';
import { NoMatch } from '../../ui/no-match.tsx';
import { Empty } from '../../ui/page.tsx';
import { Time } from '../../ui/time.tsx';
import { useFilters } from '../../ui/use-filters.ts';
import { toListPage, toPageQuery, useList } from '../../ui/use-list.ts';
import type { Group } from './api.ts';

const CreateGroup = lazyPart(async () => (await import('./change-group.tsx')).CreateGroup);

const number = new Intl.NumberFormat(LOCALE);

const columns: readonly DataColumn<Group>[] = [
  { id: 'name', label: t.columns.name, render: ({ name }) => <span className="strong">{name}</span> },
  { id: 'members', label: t.columns.members, render: ({ memberCount }) => number.format(memberCount) },
  {
    id: 'source',
    label: t.columns.source,
    isSecondary: true,
    render: ({ source }) => t.sources[source as keyof typeof t.sources],
  },
  {
    id: 'created',
    label: t.columns.created,
    isSecondary: true,
    render: ({ createdAt }) => <Time at={createdAt} as="day" />,
  },
];

export function Screen() {
  const q = useFilters().filters['q']?.trim() ?? '';
  const list = useList({
    key: ['groups', 'list', q],
    async load(cursor, signal) {
      const query = { ...toPageQuery(cursor), ...(q && { q }) };
      return toListPage(await unwrap(identity.GET('/api/v1/groups', { params: { query }, signal })));
    },
  });
  return (
    <ListPage
      title={text.screens.groups}
      intro={t.intro}
      actions={<DialogButton label={t.create} dialog={CreateGroup} />}
      filters={<SearchBox label={t.filter} />}
      list={list}
      columns={columns}
      getId={({ id }) => id}
      getHref={({ id }) => `/organisation/groups/${id}`}
      empty={
        q === '' ? (
          <Empty title={t.emptyTitle} action={<EmptyButton label={t.createFirst} />}>
            {t.emptyAdvice}
          </Empty>
        ) : (
          <NoMatch title={t.noMatch} />
        )
      }
    />
  );
}
