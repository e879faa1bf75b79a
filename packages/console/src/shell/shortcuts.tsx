import { shortcuts as t } from '#text/shortcuts';
import { text } from '#text/shared';
import { Button } from '../ui/button.tsx';
import { ModalDialog } from '../ui/dialogs.tsx';
import { Facts } from '../ui/page.tsx';
import { JUMP_KEYS } from './keys.ts';

/** What the keyboard can do. */
export const Shortcuts = ({ onClose }: { onClose: () => void }) => (
  <ModalDialog title={text.shortcuts} onClose={onClose}>
    <Facts
      of={[[JUMP_KEYS, t.jump] as const, ...t.keys].map(([keys, what]) => [
        what,
        <kbd key={what}>{keys}</kbd>,
      ])}
    />
    <div className="actions">
      <Button kind="primary" autoFocus onPress={onClose}>
        {text.close}
      </Button>
    </div>
  </ModalDialog>
);
