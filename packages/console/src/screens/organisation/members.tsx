import { identityProvider } from '#text/identity-provider';
import { members as t } from '#text/members';
import { text } from '#text/shared';
import { useMemo, useState } from 'react';
import { identity, unwrap } from '../../api/client.ts';
import { useMe } from '../../api/me.ts';
import type { DataColumn } from '../../ui/data-table.tsx';
import { DialogButton } from '../../ui/dialog-button.tsx';
import { lazyPart } from '../../ui/lazy-part.tsx';
import { FilterToggle, SearchBox } from '../../ui/filters.tsx';
import { ListPage } from '../../ui/list-page.tsx';
import { createMenuColumn } from '../../ui/menu.tsx';
import { Empty } from '../../ui/page.tsx';
import { NoMatch } from '../../ui/no-match.tsx';
import { useFilters } from '../../ui/use-filters.ts';
import { toListPage, toPageQuery, useList } from '../../ui/use-list.ts';
import type { Member } from './api.ts';
import { Invitation } from './invitation.tsx';

const ChangeRole = lazyPart(async () => (await import('./change-role.tsx')).ChangeRole);
const DisconnectMember = lazyPart(async () => (await import('./disconnect-member.tsx')).DisconnectMember);
const EndMemberSessions = lazyPart(async () => (await import('./end-member-sessions.tsx')).EndMemberSessions);
const InviteMember = lazyPart(async () => (await import('./invite-member.tsx')).InviteMember);
const RepeatInvitation = lazyPart(async () => (await import('./repeat-invitation.tsx')).RepeatInvitation);
const RepeatInvitations = lazyPart(async () => (await import('./invitations.tsx')).RepeatInvitations);
const CancelInvitations = lazyPart(async () => (await import('./invitations.tsx')).CancelInvitations);
const RemoveMember = lazyPart(async () => (await import('./remove-member.tsx')).RemoveMember);

const foldMember = (member: Member) => (
  <>
    <span>{text.roles[member.role as keyof typeof text.roles]}</span>
    <Invitation {...member} />
  </>
);

interface Bulk {
  readonly kind: 'repeat' | 'cancel';
  readonly members: readonly Member[];
}

const SHOWN = ['all', 'joined', 'invited', 'stalled', 'admins'] as const;
const conditions = {
  all: {},
  joined: { state: 'joined' },
  invited: { state: 'invited' },
  stalled: { state: 'stalled' },
  admins: { role: 'admin' },
} as const;

const isInvited = ({ invitation }: Member): boolean => invitation !== null;

interface Dialog {
  readonly kind: 'role' | 'sessions' | 'disconnect' | 'remove' | 'repeat';
  readonly member: Member;
}

const createColumns = (open: (dialog: Dialog) => void, myId: string): readonly DataColumn<Member>[] => [
  {
    id: 'name',
    label: t.columns.name,
    sort: 'name',
    render: ({ id, fullName, email }) => (
      <span className="stack">
        <span className="strong">{id === myId ? t.you(fullName) : fullName}</span>
        <small>{email}</small>
      </span>
    ),
  },
  {
    id: 'role',
    label: t.columns.role,
    isSecondary: true,
    render: ({ role }) => text.roles[role as keyof typeof text.roles],
  },
  {
    id: 'state',
    label: t.columns.state,
    isSecondary: true,
    render: (member) => <Invitation {...member} />,
  },
  {
    id: 'secondFactor',
    label: t.columns.secondFactor,
    isSecondary: true,
    render: ({ secondFactors }) =>
      secondFactors.length === 0
        ? t.noSecondFactor
        : secondFactors.map((kind) => t.secondFactors[kind]).join(', '),
  },
  createMenuColumn({
    getName: ({ fullName }) => fullName,
    listActions: (member) => [
      {
        label: member.role === 'admin' ? t.makeMember : t.makeAdmin,
        run: () => open({ kind: 'role', member }),
      },
      member.invitation
        ? { label: t.repeat, run: () => open({ kind: 'repeat', member }) }
        : { label: t.endSessions, isDangerous: true, run: () => open({ kind: 'sessions', member }) },
      ...(member.hasProviderIdentity === true
        ? [
            {
              label: identityProvider.member.action,
              isDangerous: true,
              run: () => open({ kind: 'disconnect', member }),
            },
          ]
        : []),
      {
        label: member.invitation ? t.cancelInvitation : t.remove,
        isDangerous: true,
        run: () => open({ kind: 'remove', member }),
      },
    ],
  }),
];

export function Screen() {
  const me = useMe();
  const [dialog, setDialog] = useState<Dialog>();
  const [bulk, setBulk] = useState<Bulk>();
  const close = () => setDialog(undefined);
  const closeBulk = () => setBulk(undefined);
  const columns = useMemo(() => createColumns(setDialog, me.id), [me.id]);
  const { filters } = useFilters();
  const show = SHOWN.find((known) => known === filters['show']) ?? 'all';
  const sort = filters['sort'] === 'name' ? ('name' as const) : ('newest' as const);
  const q = filters['q']?.trim() ?? '';
  const list = useList({
    key: ['members', 'list', show, sort, q],
    async load(cursor, signal) {
      const query = { ...toPageQuery(cursor), ...conditions[show], sort, ...(q && { q }) };
      return toListPage(await unwrap(identity.GET('/api/v1/users', { params: { query }, signal })));
    },
  });
  return (
    <ListPage
      title={text.screens.members}
      intro={t.intro}
      actions={<DialogButton label={t.invite} dialog={InviteMember} />}
      filters={
        <>
          <SearchBox label={t.filter} />
          <FilterToggle
            label={t.columns.state}
            name="show"
            options={SHOWN.map((key) => [key, t.shown[key]])}
          />
        </>
      }
      bulk={[
        {
          label: t.repeat,
          applies: isInvited,
          run: (chosen) => setBulk({ kind: 'repeat', members: chosen }),
        },
        {
          label: t.cancelInvitation,
          applies: isInvited,
          run: (chosen) => setBulk({ kind: 'cancel', members: chosen }),
        },
      ]}
      list={list}
      columns={columns}
      getId={({ id }) => id}
      getHref={({ id }) => `/organisation/members/${id}`}
      folded={foldMember}
      empty={show === 'all' && q === '' ? <Empty title={t.emptyTitle} /> : <NoMatch title={t.noMatch} />}
    >
      {bulk?.kind === 'repeat' && <RepeatInvitations members={bulk.members} onClose={closeBulk} />}
      {bulk?.kind === 'cancel' && <CancelInvitations members={bulk.members} onClose={closeBulk} />}
      {dialog?.kind === 'role' && <ChangeRole member={dialog.member} onClose={close} />}
      {dialog?.kind === 'repeat' && <RepeatInvitation member={dialog.member} onClose={close} />}
      {dialog?.kind === 'sessions' && <EndMemberSessions member={dialog.member} onClose={close} />}
      {dialog?.kind === 'disconnect' && <DisconnectMember member={dialog.member} onClose={close} />}
      {dialog?.kind === 'remove' && <RemoveMember member={dialog.member} onClose={close} />}
    </ListPage>
  );
}
