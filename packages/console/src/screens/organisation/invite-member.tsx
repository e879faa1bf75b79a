import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { identity, unwrap } from '../../api/client.ts';
import { text } from '../../text/index.ts';
import { announce } from '../../ui/announcements.tsx';
import { FormDialog } from '../../ui/dialogs.tsx';
import { readText } from '../../ui/read-form.ts';
import { RadioCards, TextInput } from '../../ui/fields.tsx';

const t = text.members;
type Role = 'member' | 'admin';

export function InviteMember({ onClose }: { onClose: () => void }) {
  const client = useQueryClient();
  const [role, setRole] = useState<Role>('member');
  const invite = useMutation({
    mutationFn: (body: { email: string; fullName: string; role: Role }) =>
      unwrap(identity.POST('/api/v1/users', { body })),
    onSuccess: ({ user }) => {
      announce(t.invited(user.email));
      onClose();
    },
    onSettled: () => client.invalidateQueries({ queryKey: ['members'] }),
  });
  return (
    <FormDialog
      title={t.invite}
      action={t.inviteSubmit}
      isPending={invite.isPending}
      error={invite.error}
      onClose={onClose}
      onSubmit={(form) =>
        invite.mutate({
          email: readText(form, 'email'),
          fullName: readText(form, 'fullName'),
          role,
        })
      }
    >
      <TextInput name="email" type="email" label={t.email} hint={t.emailHint} isRequired autoFocus />
      <TextInput name="fullName" label={t.fullName} isRequired maxLength={200} />
      <RadioCards<Role>
        label={t.columns.role}
        value={role}
        options={[
          { key: 'member', label: text.roles.member, hint: t.memberHint },
          { key: 'admin', label: text.roles.admin, hint: t.adminHint },
        ]}
        onChange={setRole}
      />
    </FormDialog>
  );
}
