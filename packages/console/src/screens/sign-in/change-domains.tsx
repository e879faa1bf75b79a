import { identityProvider } from '#text/identity-provider';
import { identity, unwrap } from '../../api/client.ts';
import { ActionDialog } from '../../ui/action-dialog.tsx';
import { TextInput } from '../../ui/fields.tsx';
import { readText } from '../../ui/read-form.ts';
import { PROVIDER_KEY, PROVIDER_PATH } from './provider.ts';

const t = identityProvider.domains;

export const AddDomain = ({ onClose }: { onClose: () => void }) => (
  <ActionDialog
    title={t.addTitle}
    action={t.addSubmit}
    changes={PROVIDER_KEY}
    act={(form) =>
      unwrap(identity.POST(`${PROVIDER_PATH}/domains`, { body: { domain: readText(form, 'domain') } }))
    }
    describe={() => t.added}
    onClose={onClose}
  >
    <TextInput name="domain" label={t.name} hint={t.nameHint} isRequired autoFocus maxLength={253} />
  </ActionDialog>
);

export const RemoveDomain = ({ domain, onClose }: { domain: string; onClose: () => void }) => (
  <ActionDialog
    title={t.removeTitle(domain)}
    action={t.removeSubmit}
    isDangerous
    changes={PROVIDER_KEY}
    act={() => unwrap(identity.DELETE(`${PROVIDER_PATH}/domains/{domain}`, { params: { path: { domain } } }))}
    describe={() => t.removed}
    onClose={onClose}
  >
    <p>{t.removeWarning}</p>
  </ActionDialog>
);
