import { run as t } from '#text/run';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { crawl, unwrap } from '../../api/client.ts';
import { announce } from '../../ui/announcements.tsx';
import { getConnectorName } from '../../ui/connector.tsx';
import { FormDialog } from '../../ui/dialogs.tsx';
import type { RunDetail } from './api.ts';

export function CancelRun({ run, onClose }: { run: RunDetail; onClose: () => void }) {
  const client = useQueryClient();
  const { connector, runId } = run;
  const cancel = useMutation({
    mutationFn: () =>
      unwrap(
        crawl.POST('/api/v1/crawlingManager/{connector}/runs/{runId}/cancel', {
          params: { path: { connector, runId } },
        }),
      ),
    onSuccess: () => {
      announce(t.cancelled(getConnectorName(connector)));
      onClose();
    },
    onSettled: () => client.invalidateQueries({ queryKey: ['crawls'] }),
  });
  return (
    <FormDialog
      title={t.cancelTitle(getConnectorName(connector))}
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
