import { scheduleEditor as t } from '#text/schedule-editor';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { crawl, unwrap } from '../../api/client.ts';
import { announce } from '../../ui/announcements.tsx';
import { getConnectorName, toConnectorKey } from '../../ui/connector-name.ts';
import { FormDialog } from '../../ui/dialogs.tsx';
import { NumberInput, SelectInput, TextInput } from '../../ui/fields.tsx';
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

const MAX_SLUG = 50;

/** Returns the identifier of an instance with this name. */
const toSlug = (name: string): string =>
  name
    .normalize('NFKD')
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .slice(0, MAX_SLUG)
    .replaceAll(/^-|-$/g, '') || 'another';

export function EditSchedule({ schedule, scheduled, onClose }: EditScheduleProps) {
  const client = useQueryClient();
  const connectors = useQuery({ ...connectorsQuery, enabled: !schedule });
  // Those without a schedule first.
  const offered = (connectors.data ?? [])
    .map((known) => known.connector)
    .toSorted((one, other) => Number(scheduled.includes(one)) - Number(scheduled.includes(other)));
  const [chosen, setChosen] = useState(schedule?.data.connector);
  const connector = chosen ?? offered[0] ?? '';
  const isAnother = !schedule && scheduled.includes(connector);
  const [displayName, setDisplayName] = useState('');
  const instance = schedule?.instance ?? (isAnother ? toSlug(displayName) : 'default');
  const path = { connector, instance };
  const name =
    schedule || !isAnother ? getConnectorName(toConnectorKey(path), schedule?.displayName) : displayName;
  const [worker, setWorker] = useState(schedule?.worker ?? 'event');
  const [draft, setDraft] = useState<Draft>(() => toDraft(schedule));
  const change = (fields: Partial<Draft>): void => setDraft((previous) => ({ ...previous, ...fields }));
  const config = toConfig(draft);
  const save = useMutation({
    async mutationFn() {
      // It exists by its name; then it can have a schedule.
      if (isAnother)
        await unwrap(
          crawl.PUT('/api/v1/crawlingManager/{connector}/instances/{instance}', {
            params: { path },
            body: { displayName },
          }),
        );
      return unwrap(
        crawl.POST('/api/v1/crawlingManager/{connector}/instances/{instance}/schedule', {
          params: { path },
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
      );
    },
    onSuccess: () => {
      announce(t.saved(name));
      onClose();
    },
    onSettled: () => client.invalidateQueries({ queryKey: ['crawls'] }),
  });
  return (
    <FormDialog
      title={schedule ? t.change(name) : t.add}
      action={t.submit}
      isWide
      isPending={save.isPending}
      error={save.error}
      onClose={onClose}
      onSubmit={() => config && connector !== '' && save.mutate()}
    >
      {!schedule && (
        <QueryView query={connectors}>
          {() => (
            <>
              <SelectInput
                label={t.connector}
                value={connector}
                options={offered.map((id) => [
                  id,
                  scheduled.includes(id) ? t.another(getConnectorName(id)) : getConnectorName(id),
                ])}
                onChange={setChosen}
              />
              {isAnother && (
                <TextInput
                  label={t.name}
                  hint={t.nameHint}
                  value={displayName}
                  onChange={setDisplayName}
                  validate={() => (scheduled.includes(toConnectorKey(path)) ? t.nameTaken : null)}
                  isRequired
                  maxLength={100}
                />
              )}
            </>
          )}
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
