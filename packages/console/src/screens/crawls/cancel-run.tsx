import { run as t } from '#text/run';
import { crawl, unwrap } from '../../api/client.ts';
import { ActionDialog } from '../../ui/action-dialog.tsx';
import { toConnectorKey } from '../../ui/connector-name.ts';
import { type RunDetail, useInstanceNames } from './api.ts';

export function CancelRun({ run, onClose }: { run: RunDetail; onClose: () => void }) {
  const { connector, instance, runId } = run;
  const name = useInstanceNames()(toConnectorKey(run));
  return (
    <ActionDialog
      title={t.cancelTitle(name)}
      action={t.cancelSubmit}
      leave={t.cancelLeave}
      isDangerous
      changes={['crawls']}
      act={() =>
        unwrap(
          crawl.POST('/api/v1/crawlingManager/{connector}/instances/{instance}/runs/{runId}/cancel', {
            params: { path: { connector, instance, runId } },
          }),
        )
      }
      describe={() => t.cancelled(name)}
      onClose={onClose}
    >
      <p>{t.cancelWarning}</p>
    </ActionDialog>
  );
}
