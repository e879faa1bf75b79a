import { members as t } from '#text/members';
import { text } from '#text/shared';
import { Button } from '../../ui/button.tsx';
import { Copyable } from '../../ui/copy.tsx';
import { ModalDialog } from '../../ui/dialogs.tsx';

interface InvitationLinkProps {
  readonly name: string;
  readonly link: string;
  onClose(): void;
}

/** The link of an invitation that could not be mailed; it lives in this dialog alone. */
export const InvitationLink = ({ name, link, onClose }: InvitationLinkProps) => (
  <ModalDialog title={t.linkTitle(name)} isWide isKept onClose={onClose}>
    <p>{t.linkAdvice}</p>
    <Copyable label={t.link} value={link} />
    <div className="actions">
      <Button kind="primary" onPress={onClose}>
        {text.done}
      </Button>
    </div>
  </ModalDialog>
);
