import { suppressions as t } from '#text/suppressions';
import { text } from '#text/shared';
import { useState } from 'react';
import { mail, unwrap } from '../../api/client.ts';
import { announce } from '../../ui/announcements.tsx';
import { Button } from '../../ui/button.tsx';
import type { DataColumn } from '../../ui/data-table.tsx';
import { DialogButton, EmptyButton } from '../../ui/dialog-button.tsx';
import { SearchBox } from '../../ui/filters.tsx';
import { lazyPart } from '../../ui/lazy-part.tsx';
import { ListPage } from '../../ui/list-page.tsx';
import { createMenuColumn } from '../../ui/menu.tsx';
import { Empty } from '../../ui/page.tsx';
import { reportProblem } from '../../ui/reported-problem.tsx';
import { saveFile } from '../../ui/save-file.ts';
import { Time } from '../../ui/time.tsx';
import { NoMatch } from '../../ui/no-match.tsx';
import { useFilters } from '../../ui/use-filters.ts';
import { toListPage, toPageQuery, useList } from '../../ui/use-list.ts';
import { useAction } from '../../ui/use-action.ts';
import type { Suppression } from './api.ts';

const AddSuppression = lazyPart(async () => (await import('./change-suppressions.tsx')).AddSuppression);
const RemoveSuppression = lazyPart(async () => (await import('./change-suppressions.tsx')).RemoveSuppression);

const KEY = ['suppressions'];

const createColumns = (onRemove: (suppression: Suppression) => void): readonly DataColumn<Suppression>[] => [
  {
    id: 'address',
    label: t.columns.address,
    render: ({ address }) => <span className="strong">{address}</span>,
  },
  {
    id: 'reason',
    label: t.columns.reason,
    render: ({ reason, status }) =>
      [t.reasons[reason as keyof typeof t.reasons] ?? reason, status].filter(Boolean).join(' · '),
  },
  {
    id: 'since',
    label: t.columns.since,
    isSecondary: true,
    render: ({ createdAt }) => <Time at={createdAt} />,
  },
  {
    id: 'until',
    label: t.columns.until,
    isSecondary: true,
    render: ({ expiresAt }) => <Time at={expiresAt} as="day" />,
  },
  createMenuColumn({
    getName: ({ address }) => address,
    listActions: (suppression) => [{ label: t.remove, run: () => onRemove(suppression) }],
  }),
];

export function Screen() {
  const { filters } = useFilters();
  const search = (filters['q'] ?? '').trim();
  const [removing, setRemoving] = useState<Suppression>();
  const [columns] = useState(() => createColumns(setRemoving));
  const list = useList({
    key: [...KEY, search],
    async load(cursor, signal) {
      const query = { ...toPageQuery(cursor), ...(search !== '' && { search }) };
      return toListPage(await unwrap(mail.GET('/api/v1/mail/suppressions', { params: { query }, signal })));
    },
  });
  return (
    <ListPage
      title={text.screens.suppressions}
      intro={t.intro}
      actions={
        <>
          <Export />
          <DialogButton label={t.add} dialog={AddSuppression} />
        </>
      }
      filters={<SearchBox label={t.search} />}
      list={list}
      columns={columns}
      getId={({ id }) => id}
      empty={
        search === '' ? (
          <Empty title={t.emptyTitle} action={<EmptyButton label={t.addFirst} />}>
            {t.emptyAdvice}
          </Empty>
        ) : (
          <NoMatch title={t.noMatch} />
        )
      }
    >
      {removing && <RemoveSuppression {...removing} onClose={() => setRemoving(undefined)} />}
    </ListPage>
  );
}

/** Saves the whole list as a file. */
function Export() {
  const save = useAction({
    mutationFn: () => unwrap(mail.GET('/api/v1/mail/suppressions/export', { parseAs: 'text' })),
    onSuccess(csv) {
      saveFile(`suppressions-${new Date().toISOString().slice(0, 10)}.csv`, csv);
      announce(t.exported);
    },
    onError: reportProblem,
  });
  return (
    <Button onPress={() => save.mutate()} isPending={save.isPending}>
      {t.export}
    </Button>
  );
}
