import { applications } from '#text/applications';
import { identity, unwrap } from '../../api/client.ts';
import { ActionDialog } from '../../ui/action-dialog.tsx';
import { SecretDialog } from '../../ui/secret-dialog.tsx';
import { type Secret, toDay } from './shape.ts';
import { ShownSecret } from './shown-secret.tsx';

const t = applications.secrets;

export const CreateSecret = ({ clientId, onClose }: { clientId: string; onClose: () => void }) => (
  <SecretDialog
    title={t.createTitle}
    shownTitle={applications.shown.secretTitle}
    action={t.createSubmit}
    changes={['applications']}
    act={() =>
      unwrap(
        identity.POST('/api/v1/oauth-applications/{clientId}/secrets', { params: { path: { clientId } } }),
      )
    }
    show={({ clientSecret }) => <ShownSecret clientId={clientId} secret={clientSecret} onClose={onClose} />}
    onClose={onClose}
  >
    <p>{t.createHint}</p>
  </SecretDialog>
);

interface RevokeSecretProps {
  readonly clientId: string;
  readonly secret: Secret;
  onClose(): void;
}

export const RevokeSecret = ({ clientId, secret, onClose }: RevokeSecretProps) => (
  <ActionDialog
    title={t.revokeTitle(toDay(secret))}
    action={t.revokeSubmit}
    isDangerous
    changes={['applications']}
    act={() =>
      unwrap(
        identity.DELETE('/api/v1/oauth-applications/{clientId}/secrets/{secretId}', {
          params: { path: { clientId, secretId: secret.id } },
        }),
      )
    }
    describe={() => t.revoked}
    onClose={onClose}
  >
    <p>{t.revokeWarning}</p>
  </ActionDialog>
);
