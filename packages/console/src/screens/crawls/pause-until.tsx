import { crawls as t } from '#text/crawls';
import { crawl, unwrap } from '../../api/client.ts';
import { ActionDialog } from '../../ui/action-dialog.tsx';
import { readConnectorKey } from '../../ui/connector-name.ts';
import { TextInput } from '../../ui/fields.tsx';
import { readText } from '../../ui/read-form.ts';
import { useInstanceNames } from './api.ts';

/** Pauses a schedule, which resumes by itself. */
export function PauseUntil({ connector, onClose }: { connector: string; onClose: () => void }) {
  const name = useInstanceNames()(connector);
  return (
    <ActionDialog
      title={t.pauseUntilTitle(name)}
      action={t.acts.pause}
      changes={['crawls']}
      act={(form) =>
        unwrap(
          crawl.POST('/api/v1/crawlingManager/{connector}/instances/{instance}/pause', {
            params: { path: readConnectorKey(connector) },
            body: { until: new Date(readText(form, 'until')).toISOString() },
          }),
        )
      }
      describe={() => t.done.pause(name)}
      onClose={onClose}
    >
      <TextInput
        name="until"
        type="datetime-local"
        label={t.resumesAt}
        hint={t.pauseUntilHint}
        isRequired
        autoFocus
      />
    </ActionDialog>
  );
}
