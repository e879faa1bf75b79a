import { members as t } from '#text/members';
import { text } from '#text/shared';
import { Button } from '../../ui/button.tsx';
import { Copyable } from '../../ui/copy.tsx';
import { DialogForm, type FormDialogProps, ModalDialog } from '../../ui/dialogs.tsx';

interface InvitationDialogProps extends Omit<FormDialogProps, 'isWide'> {
  /** The person whose invitation could not be mailed, with the link to hand over; it lives in this dialog alone. */
  readonly invited: { readonly name: string; readonly link: string } | undefined;
}

/**
 * A form that invites somebody, and the link in its place where no mail can be sent. It is one dialog for both, so that the
 * focus returns to the button that opened it.
 */
export const InvitationDialog = ({ title, invited, ...form }: InvitationDialogProps) => (
  <ModalDialog
    title={invited ? t.linkTitle(invited.name) : title}
    isWide={invited !== undefined}
    isKept={invited !== undefined}
    onClose={form.onClose}
  >
    {invited ? (
      <>
        <p>{t.linkAdvice}</p>
        <Copyable label={t.link} value={invited.link} />
        <div className="actions">
          <Button kind="primary" onPress={form.onClose}>
            {text.done}
          </Button>
        </div>
      </>
    ) : (
      <DialogForm {...form} />
    )}
  </ModalDialog>
);
