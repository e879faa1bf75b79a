import { mcpServers as t } from '#text/mcp-servers';
import { useState } from 'react';
import { identity, unwrap } from '../../api/client.ts';
import { ActionDialog } from '../../ui/action-dialog.tsx';
import type { Server } from './api.ts';

interface ChangeServerProps {
  readonly server: Server;
  onClose(): void;
}

/** Disables a server, or enables it again. */
export function SwitchServer({ server, onClose }: ChangeServerProps) {
  // What was asked stays, even if the server is read again meanwhile.
  const [{ id, name, isEnabled }] = useState(server);
  return (
    <ActionDialog
      title={isEnabled ? t.disableTitle(name) : t.enableTitle(name)}
      action={isEnabled ? t.disableSubmit : t.enableSubmit}
      isDangerous={isEnabled}
      changes={['mcp-servers']}
      act={() =>
        unwrap(
          identity.PATCH('/api/v1/mcp-servers/{id}', {
            params: { path: { id } },
            body: { isEnabled: !isEnabled },
          }),
        )
      }
      describe={() => (isEnabled ? t.disabled(name) : t.enabled(name))}
      onClose={onClose}
    >
      <p>{isEnabled ? t.disableWarning : t.enableHint}</p>
    </ActionDialog>
  );
}

export const RemoveServer = ({
  server: { id, name },
  onRemoved,
  onClose,
}: ChangeServerProps & { readonly onRemoved: () => void }) => (
  <ActionDialog
    title={t.removeTitle(name)}
    action={t.removeSubmit}
    isDangerous
    changes={['mcp-servers', 'list']}
    act={() => unwrap(identity.DELETE('/api/v1/mcp-servers/{id}', { params: { path: { id } } }))}
    describe={() => t.removed(name)}
    onClose={onClose}
    onDone={onRemoved}
  >
    <p>{t.removeWarning}</p>
  </ActionDialog>
);
