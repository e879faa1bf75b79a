import { groups } from '#text/groups';
import { useMemo } from 'react';
import { identity, unwrap } from '../../api/client.ts';
import { announce } from '../../ui/announcements.tsx';
import type { DataColumn } from '../../ui/data-table.tsx';
import { DialogButton, EmptyButton } from '../../ui/dialog-button.tsx';
import { FilterBar, SearchBox } from '../../ui/filters.tsx';
import { lazyPart } from '../../ui/lazy-part.tsx';
import { ListView, Total } from '../../ui/list-page.tsx';
import { createMenuColumn } from '../../ui/menu.tsx';
import { NoMatch } from '../../ui/no-match.tsx';
import { Empty, Section } from '../../ui/page.tsx';
import { explainProblem } from '../../ui/problem-note.tsx';
import { reportProblem } from '../../ui/reported-problem.tsx';
import { Time } from '../../ui/time.tsx';
import { useAction } from '../../ui/use-action.ts';
import { useFilters } from '../../ui/use-filters.ts';
import { toListPage, toPageQuery, useList } from '../../ui/use-list.ts';
import { type Group, type GroupMember, toPath } from './api.ts';

const AddMembers = lazyPart(async () => (await import('./add-members.tsx')).AddMembers);

const t = groups.members;

const columns: readonly DataColumn<GroupMember>[] = [
  {
    id: 'name',
    label: t.columns.name,
    render: ({ name, email }) => (
      <span className="stack">
        <span className="strong">{name}</span>
        {email !== null && <small>{email}</small>}
      </span>
    ),
  },
  {
    id: 'kind',
    label: t.columns.kind,
    isSecondary: true,
    render: ({ kind }) => t.kinds[kind as keyof typeof t.kinds],
  },
  {
    id: 'added',
    label: t.columns.added,
    isSecondary: true,
    render: ({ addedAt }) => <Time at={addedAt} as="day" />,
  },
];

/** Who is in a group. Those of the provider's groups are decided there. */
export function GroupMembers({ group }: { group: Group }) {
  const { id, source } = group;
  const isManual = source === 'manual';
  const q = useFilters().filters['q']?.trim() ?? '';
  const list = useList({
    key: ['groups', 'members', id, q],
    async load(cursor, signal) {
      const params = { ...toPath(group), query: { ...toPageQuery(cursor), ...(q && { q }) } };
      return toListPage(await unwrap(identity.GET('/api/v1/groups/{groupId}/members', { params, signal })));
    },
  });
  const { mutate: remove } = useAction({
    mutationFn: async ({ id: memberId }: GroupMember) => {
      const params = { path: { groupId: id, memberId } };
      await unwrap(identity.DELETE('/api/v1/groups/{groupId}/members/{memberId}', { params }));
    },
    onSuccess: (_done, { name }) => announce(t.removed(name)),
    onError: (error) => reportProblem(explainProblem(error)),
    changes: [['groups']],
  });
  const shown = useMemo(
    () =>
      isManual
        ? [
            ...columns,
            createMenuColumn<GroupMember>({
              getName: ({ name }) => name,
              listActions: (member) => [{ label: t.remove, isDangerous: true, run: () => remove(member) }],
            }),
          ]
        : columns,
    [isManual, remove],
  );
  const Add = useMemo(
    () =>
      function AddToGroup({ onClose }: { onClose: () => void }) {
        return <AddMembers group={group} onClose={onClose} />;
      },
    [group],
  );
  return (
    <Section title={t.title} actions={isManual && <DialogButton label={t.add} dialog={Add} />}>
      <FilterBar>
        <SearchBox label={t.filter} />
        <Total of={list.total} />
      </FilterBar>
      <ListView
        label={t.title}
        list={list}
        columns={shown}
        getId={({ id: memberId }) => memberId}
        empty={
          q === '' ? (
            <Empty title={t.emptyTitle} action={isManual && <EmptyButton label={t.addFirst} />}>
              {isManual ? t.emptyAdvice : groups.sourceHint}
            </Empty>
          ) : (
            <NoMatch title={t.noMatch} />
          )
        }
      />
    </Section>
  );
}
