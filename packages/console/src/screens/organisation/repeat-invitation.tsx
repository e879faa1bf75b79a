import { members as t } from '#text/members';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { announce } from '../../ui/announcements.tsx';
import { FormDialog } from '../../ui/dialogs.tsx';
import { InvitationLink } from './invitation-link.tsx';
import { repeatInvitation } from './invitations.ts';
import type { Member } from './members.tsx';

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
  if (link) return <InvitationLink name={member.fullName} link={link} onClose={onClose} />;
  return (
    <FormDialog
      title={t.repeatTitle(member.fullName)}
      action={t.repeatSubmit}
      isPending={repeat.isPending}
      error={repeat.error}
      onClose={onClose}
      onSubmit={() => repeat.mutate()}
    >
      <p>{t.repeatHint(member.email)}</p>
    </FormDialog>
  );
}
