import { members as t } from '#text/members';
import { BulkDialog } from '../../ui/bulk-dialog.tsx';
import { cancelInvitation, type Member, repeatInvitation } from './api.ts';

interface InvitationsProps {
  readonly members: readonly Member[];
  onClose(): void;
}

/** Mails several invitations again. */
export const RepeatInvitations = ({ members, onClose }: InvitationsProps) => (
  <BulkDialog
    title={t.repeatSeveral(members.length)}
    action={t.repeatSubmit}
    items={members}
    changes={['members']}
    getName={({ email }) => email}
    act={({ id }) => repeatInvitation(id)}
    describe={t.repeatedSeveral}
    onClose={onClose}
  >
    <p>{t.repeatSeveralHint}</p>
  </BulkDialog>
);

/** Cancels several invitations. */
export const CancelInvitations = ({ members, onClose }: InvitationsProps) => (
  <BulkDialog
    title={t.cancelSeveral(members.length)}
    action={t.cancelSubmit}
    leave={t.cancelLeave}
    isDangerous
    items={members}
    changes={['members']}
    getName={({ email }) => email}
    act={({ id }) => cancelInvitation(id)}
    describe={t.cancelledSeveral}
    onClose={onClose}
  >
    <p>{t.cancelWarning}</p>
  </BulkDialog>
);
