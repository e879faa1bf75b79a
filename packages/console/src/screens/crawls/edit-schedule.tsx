import { scheduleEditor as t } from '#text/schedule-editor';
import { text } from '#text/shared';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { crawl, unwrap } from '../../api/client.ts';
import { Problem } from '../../api/problem.ts';
import { ActionDialog } from '../../ui/action-dialog.tsx';
import { getConnectorName, toConnectorKey } from '../../ui/connector-name.ts';
import { NumberInput, SelectInput, TextInput } from '../../ui/fields.tsx';
import { QueryView } from '../../ui/query-view.tsx';
import { connectorsQuery, endpointsQuery, type Schedule, toKey } from './api.ts';
import { type Draft, toConfig, toDraft } from './draft.ts';
import { Recurrence } from './recurrence.tsx';
import { RunPreview } from './run-preview.tsx';
import { ZonePicker } from './zone-picker.tsx';

interface EditScheduleProps {
  /** Undefined: a connector that has none yet. */
  readonly schedule?: Schedule;
  /** The schedules that exist already. */
  readonly others: readonly Schedule[];
  onClose(): void;
}

const MAX_SLUG = 50;

/** Returns an identifier that no other instance of the connector has, from the name where that has letters of an identifier. */
function toSlug(name: string, isTaken: (slug: string) => boolean): string {
  const slug =
    name
      .normalize('NFKD')
      .toLowerCase()
      .replaceAll(/\p{M}+/gu, '')
      .replaceAll(/[^a-z0-9]+/g, '-')
      .slice(0, MAX_SLUG)
      .replaceAll(/^-|-$/g, '') || 'another';
  let free = slug;
  for (let number = 2; isTaken(free); number += 1) {
    const suffix = `-${number}`;
    free = slug.slice(0, MAX_SLUG - suffix.length) + suffix;
  }
  return free;
}

type Worker = Schedule['worker'];

export function EditSchedule({ schedule, others, onClose }: EditScheduleProps) {
  const scheduled = others.map(toKey);
  const connectors = useQuery({ ...connectorsQuery, enabled: !schedule });
  // Connectors without a schedule first.
  const offered = (connectors.data ?? [])
    .map((known) => known.connector)
    .toSorted((one, other) => Number(scheduled.includes(one)) - Number(scheduled.includes(other)));
  const [connector, setConnector] = useState(schedule?.data.connector ?? '');
  // Chosen once: the schedules are read again every few seconds.
  if (connector === '' && offered[0] !== undefined) setConnector(offered[0]);
  const isAnother = !schedule && scheduled.includes(connector);
  const [displayName, setDisplayName] = useState('');
  const instance =
    schedule?.instance ??
    (isAnother
      ? toSlug(displayName, (slug) => scheduled.includes(toConnectorKey({ connector, instance: slug })))
      : 'default');
  const path = { connector, instance };
  const name =
    schedule || !isAnother ? getConnectorName(toConnectorKey(path), schedule?.displayName) : displayName;
  const [worker, setWorker] = useState<Worker>(schedule?.worker ?? 'event');
  const [endpointId, setEndpointId] = useState(schedule?.endpointId ?? '');
  const endpoints = useQuery({ ...endpointsQuery, enabled: worker === 'endpoint' });
  const chosenEndpoint = endpointId || (endpoints.data?.[0]?.endpointId ?? '');
  const isComplete = connector !== '' && (worker !== 'endpoint' || chosenEndpoint !== '');
  const [draft, setDraft] = useState<Draft>(() => toDraft(schedule));
  const change = (fields: Partial<Draft>): void => setDraft((previous) => ({ ...previous, ...fields }));
  const config = toConfig(draft);
  async function save() {
    if (!config || !isComplete) throw new Problem(400, 'INCOMPLETE', t.incomplete);
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
          scheduleConfig: config,
          worker,
          ...(worker === 'endpoint' && { endpointId: chosenEndpoint }),
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
  }
  return (
    <ActionDialog
      title={schedule ? t.change(name) : t.add}
      action={t.submit}
      isWide
      changes={['crawls']}
      act={save}
      describe={() => t.saved(name)}
      onClose={onClose}
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
                  t.choice(
                    scheduled.includes(id) ? t.another(getConnectorName(id)) : getConnectorName(id),
                    id,
                  ),
                ])}
                onChange={setConnector}
              />
              {isAnother && (
                <TextInput
                  name="displayName"
                  label={t.name}
                  hint={t.nameHint}
                  value={displayName}
                  onChange={setDisplayName}
                  validate={(value) =>
                    others.some((one) => one.data.connector === connector && one.displayName === value)
                      ? t.nameTaken
                      : null
                  }
                  isRequired
                  maxLength={100}
                />
              )}
            </>
          )}
        </QueryView>
      )}
      <SelectInput<Worker>
        name="worker"
        label={t.worker}
        hint={worker === 'event' ? t.noWorker : undefined}
        value={worker}
        options={[
          ['event', t.workers.event],
          ['pull', t.workers.pull],
          ['endpoint', t.workers.endpoint],
        ]}
        onChange={setWorker}
      />
      {worker === 'endpoint' && (
        <QueryView query={endpoints}>
          {(known) =>
            known.length === 0 ? (
              <p className="warning">
                {t.noEndpoint} <Link to="/crawls/endpoints">{text.views.endpoints}</Link>
              </p>
            ) : (
              <SelectInput
                name="endpointId"
                label={t.endpoint}
                value={chosenEndpoint}
                options={known.map((one) => [one.endpointId, one.description || one.url])}
                onChange={setEndpointId}
              />
            )
          }
        </QueryView>
      )}
      <Recurrence draft={draft} onChange={change} />
      {/* A moment is chosen in the zone of the browser, which its field names. */}
      {draft.scheduleType !== 'once' && (
        <ZonePicker value={draft.timezone} onChange={(timezone) => change({ timezone })} />
      )}
      <RunPreview connector={connector} config={config} />
      <details>
        <summary>{t.more}</summary>
        <div className="row">
          <NumberInput
            name="jitterMs"
            label={t.jitter}
            hint={t.jitterHint}
            value={draft.jitterMinutes}
            minValue={0}
            maxValue={1440}
            onChange={(jitterMinutes) => change({ jitterMinutes })}
          />
          <SelectInput
            name="missedRunPolicy"
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
    </ActionDialog>
  );
}
