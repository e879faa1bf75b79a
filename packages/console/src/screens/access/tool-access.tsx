import { access as t } from '#text/access';
import { ModalDialog } from '../../ui/dialogs.tsx';
import { WhoCan } from './who-can.tsx';

interface ToolAccessProps {
  /** As the tool endpoint lists it. */
  readonly name: string;
  /** The scope that it needs; null while nobody can use it. */
  readonly scope: string | null;
  onClose(): void;
}

export const ToolAccess = ({ name, scope, onClose }: ToolAccessProps) => (
  <ModalDialog title={t.titleOf(name)} isWide onClose={onClose}>
    <WhoCan resource={{ type: 'tool', id: name }} actions={[scope ?? 'kb:read']} />
  </ModalDialog>
);
