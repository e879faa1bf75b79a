import { members as t } from '#text/members';
import { text } from '#text/shared';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { identity, unwrap } from '../../api/client.ts';
import { announce } from '../../ui/announcements.tsx';
import { FormDialog } from '../../ui/dialogs.tsx';
import type { Member } from './api.ts';

export function ChangeRole({ member, onClose }: { member: Member; onClose: () => void }) {
  const client = useQueryClient();
  const role = member.role === 'admin' ? 'member' : 'admin';
  const change = useMutation({
    mutationFn: () =>
      unwrap(identity.PATCH('/api/v1/users/{id}', { params: { path: { id: member.id } }, body: { role } })),
    onSuccess: () => {
      announce(t.roleChanged(member.fullName, text.roles[role]));
      onClose();
    },
    // It may have been one's own role.
    onSettled: () => client.invalidateQueries(),
  });
  return (
    <FormDialog
      title={t.roleTitle(member.fullName, text.roles[role])}
      action={t.roleSubmit}
      isPending={change.isPending}
      error={change.error}
      onClose={onClose}
      onSubmit={() => change.mutate()}
    >
      <p>{role === 'admin' ? t.adminHint : t.demoteHint}</p>
    </FormDialog>
  );
}
