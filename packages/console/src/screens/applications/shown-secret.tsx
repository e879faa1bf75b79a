import { applications as t } from '#text/applications';
import { Copyable } from '../../ui/copy.tsx';
import { DoneButton } from '../../ui/secret-dialog.tsx';

interface ShownSecretProps {
  readonly clientId: string;
  /** Null for an application without one. */
  readonly secret: string | null;
  onClose(): void;
}

/** Shows an application's new secret, which lives in this dialog only and goes with it. */
export const ShownSecret = ({ clientId, secret, onClose }: ShownSecretProps) => (
  <>
    {secret !== null && <p className="warning">{t.shown.warning}</p>}
    <h3>{t.clientId}</h3>
    <Copyable value={clientId} label={t.clientId} />
    {secret !== null && (
      <>
        <h3>{t.shown.secret}</h3>
        <Copyable value={secret} label={t.shown.secret} />
      </>
    )}
    <h3>{t.endpoints}</h3>
    <Copyable value={`${location.origin}/oauth2/token`} label={t.endpoints} />
    <DoneButton onPress={onClose} />
  </>
);
