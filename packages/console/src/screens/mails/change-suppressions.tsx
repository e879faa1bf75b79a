import { suppressions as t } from '#text/suppressions';
import { mail, unwrap } from '../../api/client.ts';
import { ActionDialog } from '../../ui/action-dialog.tsx';
import { TextInput } from '../../ui/fields.tsx';
import { readText } from '../../ui/read-form.ts';
import type { Suppression } from './api.ts';

const KEY = ['suppressions'];

export const AddSuppression = ({ onClose }: { onClose: () => void }) => (
  <ActionDialog
    title={t.add}
    action={t.addSubmit}
    changes={KEY}
    act={(form) =>
      unwrap(mail.POST('/api/v1/mail/suppressions', { body: { address: readText(form, 'address') } }))
    }
    describe={({ data }) => t.added(data.address)}
    onClose={onClose}
  >
    <TextInput name="address" type="email" label={t.address} isRequired autoFocus />
  </ActionDialog>
);

export const RemoveSuppression = ({ id, address, onClose }: Suppression & { onClose: () => void }) => (
  <ActionDialog
    title={t.removeTitle(address)}
    action={t.removeSubmit}
    changes={KEY}
    act={() => unwrap(mail.DELETE('/api/v1/mail/suppressions/{id}', { params: { path: { id } } }))}
    describe={() => t.removed(address)}
    onClose={onClose}
  >
    <p>{t.removeWarning}</p>
  </ActionDialog>
);
