import { members as t } from '#text/members';
import { text } from '#text/shared';
import { useState } from 'react';
import { identity, unwrap } from '../../api/client.ts';
import { announce } from '../../ui/announcements.tsx';
import { readText } from '../../ui/read-form.ts';
import { RadioCards, TextInput } from '../../ui/fields.tsx';
import { useAction } from '../../ui/use-action.ts';
import { InvitationDialog } from './invitation-dialog.tsx';
import { hasSmtpServer, repeatInvitation } from './api.ts';

type Role = 'member' | 'admin';

/** The link to hand over where no mail can be sent. */
async function findLink(userId: string): Promise<string | null> {
  return (await hasSmtpServer()) ? null : (await repeatInvitation(userId)).inviteLink;
}

export function InviteMember({ onClose }: { onClose: () => void }) {
  const [role, setRole] = useState<Role>('member');
  const invite = useAction({
    async mutationFn(body: { email: string; fullName: string; role: Role }) {
      const { user } = await unwrap(identity.POST('/api/v1/users', { body }));
      // The invitation stands by now: should this fail, the list offers it again.
      const link = await findLink(user.id).catch(() => undefined);
      return { user, link };
    },
    onSuccess({ user, link }) {
      if (link === null) announce(t.invited(user.email));
      if (link === undefined) announce(t.invitedUnsure(user.email));
    },
    onDone: ({ link }) => !link && onClose(),
    changes: [['members']],
  });
  const { user, link } = invite.data ?? {};
  return (
    <InvitationDialog
      title={t.invite}
      invited={user && link ? { name: user.fullName, link } : undefined}
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
    </InvitationDialog>
  );
}
