import { account } from '#text/account';
import { useQuery } from '@tanstack/react-query';
import { identity, unwrap } from '../../api/client.ts';
import { ActionDialog } from '../../ui/action-dialog.tsx';
import { DataTable } from '../../ui/data-table.tsx';
import { Empty } from '../../ui/page.tsx';
import { QueryView } from '../../ui/query-view.tsx';
import { sessionColumns } from '../account/session-columns.tsx';
import { type Member, memberSessionsQuery } from './api.ts';

const t = account.sessions;

/** Shows where a member is signed in, and ends all of that. */
export function EndMemberSessions({ member, onClose }: { member: Member; onClose: () => void }) {
  const params = { path: { id: member.id } };
  const query = useQuery(memberSessionsQuery(member.id));
  return (
    <ActionDialog
      title={t.endOfTitle(member.fullName)}
      action={t.endOfSubmit}
      isDangerous
      isWide
      changes={['sessions']}
      act={() => unwrap(identity.DELETE('/api/v1/users/{id}/sessions', { params }))}
      describe={({ endedCount }) => t.othersEnded(endedCount)}
      onClose={onClose}
    >
      <p>{t.endOfWarning}</p>
      <QueryView query={query}>
        {(sessions) => (
          <DataTable
            label={t.title}
            columns={sessionColumns}
            items={sessions}
            getId={({ id }) => id}
            empty={<Empty title={t.emptyTitle} />}
          />
        )}
      </QueryView>
    </ActionDialog>
  );
}
