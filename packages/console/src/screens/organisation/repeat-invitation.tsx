import { members as t } from '#text/members';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { announce } from '../../ui/announcements.tsx';
import { InvitationDialog } from './invitation-dialog.tsx';
import { type Member, repeatInvitation } from './api.ts';

export function RepeatInvitation({ member, onClose }: { member: Member; onClose: () => void }) {
  const client = useQueryClient();
  const repeat = useMutation({
    mutationFn: () => repeatInvitation(member.id),
    onSuccess: ({ delivery }) => {
      if (delivery === 'link') return;
      announce(t.invited(member.email));
      onClose();
    },
    onSettled: () => client.invalidateQueries({ queryKey: ['members'] }),
  });
  const link = repeat.data?.inviteLink;
  return (
    <InvitationDialog
      title={t.repeatTitle(member.fullName)}
      invited={link ? { name: member.fullName, link } : undefined}
      action={t.repeatSubmit}
      isPending={repeat.isPending}
      error={repeat.error}
      onClose={onClose}
      onSubmit={() => repeat.mutate()}
    >
      <p>{t.repeatHint(member.email)}</p>
    </InvitationDialog>
  );
}
