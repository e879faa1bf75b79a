import { members as t } from '#text/members';
import { ActionDialog } from '../../ui/action-dialog.tsx';
import { cancelInvitation, type Member, removeMember } from './api.ts';
import { RemovalEffects } from './removal-effects.tsx';

interface RemoveMemberProps {
  readonly member: Member;
  /** Is called instead of `onClose` once the member is removed. */
  readonly onRemoved?: (() => void) | undefined;
  onClose(): void;
}

export function RemoveMember({ member, onRemoved, onClose }: RemoveMemberProps) {
  const { fullName, email, invitation } = member;
  return (
    <ActionDialog
      title={invitation ? t.cancelTitle(fullName, email) : t.removeTitle(fullName, email)}
      action={invitation ? t.cancelOneSubmit : t.removeSubmit}
      {...(invitation && { leave: t.cancelLeave })}
      isDangerous
      // The page of the member would ask for somebody who is gone.
      changes={['members', 'list']}
      act={() => (invitation ? cancelInvitation(member.id) : removeMember(member.id))}
      describe={() => (invitation ? t.cancelledSeveral(1) : t.removed(fullName))}
      onClose={onClose}
      {...(onRemoved && { onDone: onRemoved })}
    >
      {invitation ? (
        <p>{t.cancelWarning}</p>
      ) : (
        <>
          <p>{t.removeWarning}</p>
          <RemovalEffects memberId={member.id} />
        </>
      )}
    </ActionDialog>
  );
}
