import { crawls as t } from '#text/crawls';
import { getConnectorName } from '../../ui/connector-name.ts';
import { FormDialog } from '../../ui/dialogs.tsx';
import { useAct } from './api.ts';

export function ConfirmRemoval({
  connectors,
  onClose,
}: {
  connectors: readonly string[];
  onClose: () => void;
}) {
  const act = useAct();
  return (
    <FormDialog
      title={t.removeTitle(connectors.map((key) => getConnectorName(key)).join(', '))}
      action={t.removeSubmit}
      isDangerous
      isPending={act.isPending}
      error={act.error}
      onClose={onClose}
      onSubmit={() => act.mutate({ act: 'remove', connectors }, { onSuccess: onClose })}
    >
      <p>{t.removeWarning}</p>
    </FormDialog>
  );
}
