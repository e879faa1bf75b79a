import { services as t } from '#text/services';
import { identity, unwrap } from '../../api/client.ts';
import { ActionDialog } from '../../ui/action-dialog.tsx';
import { readSecret, SecretInput } from '../../ui/secret-input.tsx';
import type { Service } from './api.ts';
import { KeyHint } from './service.tsx';

interface ConnectServiceProps {
  readonly service: Service;
  onClose(): void;
}

/** Takes a key for a server, and only for the address that the dialog names. */
export const ConnectService = ({ service, onClose }: ConnectServiceProps) => (
  <ActionDialog
    title={t.connectTitle(service.name)}
    action={t.connectSubmit}
    changes={['services']}
    act={(form) =>
      unwrap(
        identity.PUT('/api/v1/mcp-servers/{id}/my-credential', {
          params: { path: { id: service.id } },
          body: { value: (readSecret(form, 'value') ?? '').trim(), origin: service.origin },
        }),
      )
    }
    describe={() => t.connected(service.name)}
    onClose={onClose}
  >
    <p>{t.connectWarning(service.origin)}</p>
    <p>
      <KeyHint {...service} />
    </p>
    <SecretInput name="value" label={t.key} isStored={false} isRequired maxLength={4_096} />
  </ActionDialog>
);

export const EndServices = ({ onClose }: { onClose: () => void }) => (
  <ActionDialog
    title={t.endAllTitle}
    action={t.endAllSubmit}
    isDangerous
    changes={['services']}
    act={() => unwrap(identity.DELETE('/api/v1/mcp-servers/mine'))}
    describe={({ removed }) => t.allEnded(removed)}
    onClose={onClose}
  >
    <p>{t.endAllWarning}</p>
  </ActionDialog>
);

export const EndService = ({ service, onClose }: ConnectServiceProps) => (
  <ActionDialog
    title={t.endTitle(service.name)}
    action={t.endSubmit}
    isDangerous
    changes={['services']}
    act={() =>
      unwrap(
        identity.DELETE('/api/v1/mcp-servers/{id}/my-credential', { params: { path: { id: service.id } } }),
      )
    }
    describe={() => t.ended(service.name)}
    onClose={onClose}
  >
    <p>{t.endWarnings[service.credential.kind]}</p>
  </ActionDialog>
);
