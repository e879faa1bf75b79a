import { apps as t } from '#text/apps';
import { identity, unwrap } from '../../api/client.ts';
import { ActionDialog } from '../../ui/action-dialog.tsx';
import { TextInput } from '../../ui/fields.tsx';
import { readText } from '../../ui/read-form.ts';
import type { ConnectedApp } from './api.ts';

interface EndAppProps {
  readonly app: { readonly id: string; readonly client: Pick<ConnectedApp['client'], 'name'> };
  /** For whom it acts, when an administrator ends it; undefined: for oneself. */
  readonly owner?: string;
  onClose(): void;
}

/** One's own connections and those of the organisation are ended at different paths. */
const endAt = (isOwn: boolean, id: string, reason: string) => {
  const options = { params: { path: { id } }, body: reason === '' ? {} : { reason } };
  return unwrap(
    isOwn
      ? identity.DELETE('/api/v1/connected-apps/{id}', options)
      : identity.DELETE('/api/v1/connected-apps/admin/{id}', options),
  );
};

export function EndApp({ app, owner, onClose }: EndAppProps) {
  const { name } = app.client;
  return (
    <ActionDialog
      title={owner === undefined ? t.endTitle(name) : t.endTitleOf(name, owner)}
      action={t.endSubmit}
      isDangerous
      changes={['apps']}
      act={(form) => endAt(owner === undefined, app.id, readText(form, 'reason'))}
      describe={() => t.ended(name)}
      onClose={onClose}
    >
      <p>{t.endWarning}</p>
      <TextInput name="reason" label={t.reason} hint={t.reasonHint} maxLength={500} />
    </ActionDialog>
  );
}
