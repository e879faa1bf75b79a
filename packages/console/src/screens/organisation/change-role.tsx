import { members as t } from '#text/members';
import { text } from '#text/shared';
import { identity, unwrap } from '../../api/client.ts';
import { ActionDialog } from '../../ui/action-dialog.tsx';
import type { Member } from './api.ts';

export function ChangeRole({ member, onClose }: { member: Member; onClose: () => void }) {
  const role = member.role === 'admin' ? 'member' : 'admin';
  return (
    <ActionDialog
      title={t.roleTitle(member.fullName, text.roles[role])}
      action={t.roleSubmit}
      // It may be one's own role: everything is out of date.
      changes={[]}
      act={() =>
        unwrap(identity.PATCH('/api/v1/users/{id}', { params: { path: { id: member.id } }, body: { role } }))
      }
      describe={() => t.roleChanged(member.fullName, text.roles[role])}
      onClose={onClose}
    >
      <p>{role === 'admin' ? t.adminHint : t.demoteHint}</p>
    </ActionDialog>
  );
}
