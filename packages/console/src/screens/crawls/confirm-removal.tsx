import { crawls as t } from '#text/crawls';
import { FormDialog } from '../../ui/dialogs.tsx';
import { useAct, useInstanceNames } from './api.ts';

export function ConfirmRemoval({
  connectors,
  onClose,
}: {
  connectors: readonly string[];
  onClose: () => void;
}) {
  const act = useAct();
  const getName = useInstanceNames();
  return (
    <FormDialog
      title={t.removeTitle(connectors.map(getName).join(', '))}
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
