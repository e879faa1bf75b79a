import type { IdentitySchemas } from '@platform/clients/types';
import { useState } from 'react';
import { identity, unwrap } from '../../api/client.ts';
import { useMe } from '../../api/me.ts';
import { text } from '../../text/index.ts';
import { Badge } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { type DataColumn, DataTable } from '../../ui/data-table.tsx';
import { createMenuColumn } from '../../ui/menu.tsx';
import { Empty, Page } from '../../ui/page.tsx';
import { QueryView } from '../../ui/query-view.tsx';
import { useNumberedList } from '../../ui/use-list.ts';
import { lazyPart } from '../../ui/lazy-part.tsx';

const ChangeRole = lazyPart(async () => (await import('./change-role.tsx')).ChangeRole);
const EndMemberSessions = lazyPart(async () => (await import('./end-member-sessions.tsx')).EndMemberSessions);
const InviteMember = lazyPart(async () => (await import('./invite-member.tsx')).InviteMember);
const RepeatInvitation = lazyPart(async () => (await import('./repeat-invitation.tsx')).RepeatInvitation);
const RemoveMember = lazyPart(async () => (await import('./remove-member.tsx')).RemoveMember);

const t = text.members;
const PAGE_SIZE = 50;

export type Member = IdentitySchemas['schemas']['Member'];

function Invitation({ invitation }: Pick<Member, 'invitation'>) {
  if (!invitation) return <Badge tone="good">{t.joined}</Badge>;
  const state = invitation.state as keyof typeof t.invitations;
  return (
    <span className="stack">
      <Badge tone={state === 'pending' ? 'neutral' : 'notice'}>{t.invitations[state]}</Badge>
      {invitation.reason !== undefined && <small>{invitation.reason}</small>}
    </span>
  );
}

type Dialog =
  | { readonly kind: 'invite' }
  | { readonly kind: 'role' | 'sessions' | 'remove' | 'repeat'; readonly member: Member };

const createColumns = (open: (dialog: Dialog) => void, myId: string): readonly DataColumn<Member>[] => [
  {
    id: 'name',
    label: t.columns.name,
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
    render: ({ role }) => text.roles[role as keyof typeof text.roles],
  },
  {
    id: 'state',
    label: t.columns.state,
    isSecondary: true,
    render: (member) => <Invitation {...member} />,
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
  const close = () => setDialog(undefined);
  const { more, ...query } = useNumberedList({
    key: ['members'],
    load: (page, signal) =>
      unwrap(identity.GET('/api/v1/users', { params: { query: { page, limit: PAGE_SIZE } }, signal })),
  });
  const invite = (
    <Button kind="primary" onPress={() => setDialog({ kind: 'invite' })}>
      {t.invite}
    </Button>
  );
  return (
    <Page title={t.title} intro={t.intro} actions={invite}>
      <QueryView query={query}>
        {(members) => (
          <DataTable
            label={t.title}
            columns={createColumns(setDialog, me.id)}
            items={members}
            more={more}
            getId={({ id }) => id}
            empty={<Empty title={t.emptyTitle} />}
          />
        )}
      </QueryView>
      {dialog?.kind === 'invite' && <InviteMember onClose={close} />}
      {dialog?.kind === 'role' && <ChangeRole member={dialog.member} onClose={close} />}
      {dialog?.kind === 'repeat' && <RepeatInvitation member={dialog.member} onClose={close} />}
      {dialog?.kind === 'sessions' && <EndMemberSessions member={dialog.member} onClose={close} />}
      {dialog?.kind === 'remove' && <RemoveMember member={dialog.member} onClose={close} />}
    </Page>
  );
}
