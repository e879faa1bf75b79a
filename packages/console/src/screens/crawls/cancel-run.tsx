import { run as t } from '#text/run';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { crawl, unwrap } from '../../api/client.ts';
import { announce } from '../../ui/announcements.tsx';
import { toConnectorKey } from '../../ui/connector-name.ts';
import { FormDialog } from '../../ui/dialogs.tsx';
import { type RunDetail, useInstanceNames } from './api.ts';

export function CancelRun({ run, onClose }: { run: RunDetail; onClose: () => void }) {
  const client = useQueryClient();
  const { connector, instance, runId } = run;
  const name = useInstanceNames()(toConnectorKey(run));
  const cancel = useMutation({
    mutationFn: () =>
      unwrap(
        crawl.POST('/api/v1/crawlingManager/{connector}/instances/{instance}/runs/{runId}/cancel', {
          params: { path: { connector, instance, runId } },
        }),
      ),
    onSuccess: () => {
      announce(t.cancelled(name));
      onClose();
    },
    onSettled: () => client.invalidateQueries({ queryKey: ['crawls'] }),
  });
  return (
    <FormDialog
      title={t.cancelTitle(name)}
      action={t.cancelSubmit}
      isDangerous
      isPending={cancel.isPending}
      error={cancel.error}
      onClose={onClose}
      onSubmit={() => cancel.mutate()}
    >
      <p>{t.cancelWarning}</p>
    </FormDialog>
  );
}
