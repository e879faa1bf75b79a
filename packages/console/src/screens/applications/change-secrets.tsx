import { applications } from '#text/applications';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { identity, unwrap } from '../../api/client.ts';
import { ActionDialog } from '../../ui/action-dialog.tsx';
import { DialogForm, ModalDialog } from '../../ui/dialogs.tsx';
import { type Secret, toDay } from './shape.ts';
import { ShownSecret } from './shown-secret.tsx';

const t = applications.secrets;

export function CreateSecret({ clientId, onClose }: { clientId: string; onClose: () => void }) {
  const client = useQueryClient();
  const create = useMutation({
    mutationFn: () =>
      unwrap(
        identity.POST('/api/v1/oauth-applications/{clientId}/secrets', { params: { path: { clientId } } }),
      ),
    onSuccess: () => client.invalidateQueries({ queryKey: ['applications'] }),
  });
  const created = create.data;
  return (
    <ModalDialog
      title={created ? applications.shown.secretTitle : t.createTitle}
      isKept={created !== undefined}
      onClose={onClose}
    >
      {created ? (
        <ShownSecret clientId={clientId} secret={created.clientSecret} onClose={onClose} />
      ) : (
        <DialogForm
          action={t.createSubmit}
          isPending={create.isPending}
          error={create.error}
          onClose={onClose}
          onSubmit={() => create.mutate()}
        >
          <p>{t.createHint}</p>
        </DialogForm>
      )}
    </ModalDialog>
  );
}

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
