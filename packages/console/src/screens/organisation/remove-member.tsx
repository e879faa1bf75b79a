import { useMutation, useQueryClient } from '@tanstack/react-query';
import { identity, unwrap } from '../../api/client.ts';
import { text } from '../../text/index.ts';
import { announce } from '../../ui/announcements.tsx';
import { FormDialog } from '../../ui/dialogs.tsx';
import type { Member } from './members.tsx';

const t = text.members;

export function RemoveMember({ member, onClose }: { member: Member; onClose: () => void }) {
  const client = useQueryClient();
  const remove = useMutation({
    mutationFn: () => unwrap(identity.DELETE('/api/v1/users/{id}', { params: { path: { id: member.id } } })),
    onSuccess: () => {
      announce(t.removed(member.fullName));
      onClose();
    },
    onSettled: () => client.invalidateQueries({ queryKey: ['members'] }),
  });
  return (
    <FormDialog
      title={t.removeTitle(member.fullName, member.email)}
      action={t.removeSubmit}
      isDangerous
      isPending={remove.isPending}
      error={remove.error}
      onClose={onClose}
      onSubmit={() => remove.mutate()}
    >
      <p>{member.invitation ? t.cancelWarning : t.removeWarning}</p>
    </FormDialog>
  );
}
