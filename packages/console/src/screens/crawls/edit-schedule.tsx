import { scheduleEditor as t } from '#text/schedule-editor';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { crawl, unwrap } from '../../api/client.ts';
import { announce } from '../../ui/announcements.tsx';
import { getConnectorName } from '../../ui/connector.tsx';
import { FormDialog } from '../../ui/dialogs.tsx';
import { NumberInput, SelectInput } from '../../ui/fields.tsx';
import { QueryView } from '../../ui/query-view.tsx';
import { connectorsQuery, type Schedule } from './api.ts';
import { type Draft, toConfig, toDraft } from './draft.ts';
import { Recurrence } from './recurrence.tsx';
import { RunPreview } from './run-preview.tsx';
import { ZonePicker } from './zone-picker.tsx';

interface EditScheduleProps {
  /** Undefined: a connector that has none yet. */
  readonly schedule?: Schedule;
  /** Connectors that have a schedule already. */
  readonly scheduled: readonly string[];
  onClose(): void;
}

export function EditSchedule({ schedule, scheduled, onClose }: EditScheduleProps) {
  const client = useQueryClient();
  const connectors = useQuery({ ...connectorsQuery, enabled: !schedule });
  const free = (connectors.data ?? []).filter((known) => !scheduled.includes(known.connector));
  const [chosen, setChosen] = useState(schedule?.data.connector);
  const connector = chosen ?? free[0]?.connector ?? '';
  const [worker, setWorker] = useState(schedule?.worker ?? 'event');
  const [draft, setDraft] = useState<Draft>(() => toDraft(schedule));
  const change = (fields: Partial<Draft>): void => setDraft((previous) => ({ ...previous, ...fields }));
  const config = toConfig(draft);
  const save = useMutation({
    mutationFn: () =>
      unwrap(
        crawl.POST('/api/v1/crawlingManager/{connector}/schedule', {
          params: { path: { connector } },
          body: {
            scheduleConfig: config as NonNullable<typeof config>,
            worker,
            ...(schedule && {
              priority: schedule.priority,
              maxRetries: schedule.maxRetries,
              timeout: schedule.timeout,
              ...(schedule.fullEvery !== null && { fullEvery: schedule.fullEvery }),
              ...(schedule.data.metadata && { metadata: schedule.data.metadata }),
            }),
          },
        }),
      ),
    onSuccess: () => {
      announce(t.saved(getConnectorName(connector)));
      onClose();
    },
    onSettled: () => client.invalidateQueries({ queryKey: ['crawls'] }),
  });
  return (
    <FormDialog
      title={schedule ? t.change(getConnectorName(connector)) : t.add}
      action={t.submit}
      isWide
      isPending={save.isPending}
      error={save.error}
      onClose={onClose}
      onSubmit={() => config && connector !== '' && save.mutate()}
    >
      {!schedule && (
        <QueryView query={connectors}>
          {() =>
            free.length === 0 ? (
              <p className="hint">{t.allScheduled}</p>
            ) : (
              <SelectInput
                label={t.connector}
                value={connector}
                options={free.map(({ connector: id }) => [id, getConnectorName(id)])}
                onChange={setChosen}
              />
            )
          }
        </QueryView>
      )}
      <SelectInput<Schedule['worker']>
        label={t.worker}
        hint={
          worker === 'event' && !(schedule?.isWorkerSet && schedule.worker === 'event')
            ? t.noWorker
            : undefined
        }
        value={worker}
        options={[
          ['event', t.workers.event],
          ['pull', t.workers.pull],
        ]}
        onChange={setWorker}
      />
      <Recurrence draft={draft} onChange={change} />
      <ZonePicker value={draft.timezone} onChange={(timezone) => change({ timezone })} />
      <RunPreview connector={connector} config={config} />
      <details>
        <summary>{t.more}</summary>
        <div className="row">
          <NumberInput
            label={t.jitter}
            hint={t.jitterHint}
            value={draft.jitterMinutes}
            minValue={0}
            maxValue={1440}
            onChange={(jitterMinutes) => change({ jitterMinutes })}
          />
          <SelectInput
            label={t.missed}
            value={draft.missedRunPolicy}
            options={[
              ['run_once', t.missedPolicies.run_once],
              ['skip', t.missedPolicies.skip],
            ]}
            onChange={(missedRunPolicy) => change({ missedRunPolicy })}
          />
        </div>
      </details>
    </FormDialog>
  );
}
