import { crawls as t } from '#text/crawls';
import { text } from '#text/shared';
import { useParams } from '@tanstack/react-router';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Button } from '../../ui/button.tsx';
import { getConnectorName, toConnectorKey } from '../../ui/connector-name.ts';
import { CopyId } from '../../ui/copy.tsx';
import { EmptyLink } from '../../ui/dialog-button.tsx';
import { DetailPage } from '../../ui/detail-page.tsx';
import { lazyPart } from '../../ui/lazy-part.tsx';
import { DangerZone, Empty, Facts, Section } from '../../ui/page.tsx';
import { QueryView } from '../../ui/query-view.tsx';
import { shownZone } from '../../look.ts';
import { isOtherZone, Time, ZonedTime } from '../../ui/time.tsx';
import { type Source, sourcesQuery } from '../knowledge/api.ts';
import { SourceAge } from '../knowledge/source-age.tsx';
import { type Schedule, schedulesQuery, toKey, useAct } from './api.ts';
import { ConnectorRuns, useRuns } from './connector-runs.tsx';
import { describeDuration } from './duration.ts';
import { Hooks } from './hooks.tsx';
import { ScheduleProblems } from './schedule-problems.tsx';
import { ScheduleWords } from './schedule-words.tsx';
import { ScheduleState } from './states.tsx';

const ConfirmRemoval = lazyPart(async () => (await import('./confirm-removal.tsx')).ConfirmRemoval);
const PauseUntil = lazyPart(async () => (await import('./pause-until.tsx')).PauseUntil);
const EditSchedule = lazyPart(async () => (await import('./edit-schedule.tsx')).EditSchedule);

/** One connector: its schedule and its runs. */
export function Screen() {
  const { connector = '' }: { connector?: string } = useParams({ strict: false });
  const query = useQuery(schedulesQuery);
  const schedule = query.data?.find((known) => toKey(known) === connector);
  const runs = useRuns(connector);
  const source = useQuery(sourcesQuery).data?.find((known) => toConnectorKey(known) === connector);
  const [open, setOpen] = useState<'edit' | 'pause' | 'remove'>();
  const act = useAct();
  const close = () => setOpen(undefined);
  const zone = schedule?.data.scheduleConfig.timezone;
  const isPaused = schedule?.state === 'paused';
  const run = (label: string) => (
    <Button isDisabled={isPaused} onPress={() => act.mutate({ act: 'run', connectors: [connector] })}>
      {label}
    </Button>
  );
  const empty = schedule ? (
    <Empty title={t.runs.emptyTitle} action={run(t.runs.runFirst)}>
      {!isPaused && t.runs.emptyAdvice}
    </Empty>
  ) : (
    <Empty title={t.runs.emptyTitle} action={<EmptyLink to="/crawls" label={t.add} />}>
      {t.emptyAdvice}
    </Empty>
  );
  return (
    <DetailPage
      // A schedule outlives its connector; the runs of a connector that the platform doesn't have are refused.
      query={{ data: schedule ?? runs.list.data, error: runs.list.error }}
      title={getConnectorName(connector, schedule?.displayName)}
      intro={schedule && <ScheduleWords config={schedule.data.scheduleConfig} />}
      actions={
        schedule && (
          <>
            {run(t.acts.run)}
            <Button
              onPress={() => act.mutate({ act: isPaused ? 'resume' : 'pause', connectors: [connector] })}
            >
              {isPaused ? t.acts.resume : t.acts.pause}
            </Button>
            {!isPaused && <Button onPress={() => setOpen('pause')}>{t.pauseUntil}</Button>}
            <Button kind="primary" onPress={() => setOpen('edit')}>
              {t.edit}
            </Button>
          </>
        )
      }
    >
      <QueryView query={query}>
        {() =>
          schedule ? (
            <>
              {isPaused && <p className="hint paused">{t.runPaused}</p>}
              <ScheduleFacts schedule={schedule} source={source} />
              <ScheduleProblems schedule={schedule} />
            </>
          ) : (
            <p>{t.noSchedule}</p>
          )
        }
      </QueryView>
      <Section title={t.runs.title}>
        {isOtherZone(zone) && <p className="hint">{t.runs.zone(shownZone, zone ?? '')}</p>}
        <ConnectorRuns connector={connector} runs={runs} empty={empty} />
      </Section>
      {schedule && <Hooks connector={connector} />}
      {schedule && (
        <DangerZone acts={[{ label: t.acts.remove, hint: t.removeWarning, run: () => setOpen('remove') }]} />
      )}
      {open === 'edit' && schedule && <EditSchedule schedule={schedule} others={[]} onClose={close} />}
      {open === 'pause' && <PauseUntil connector={connector} onClose={close} />}
      {open === 'remove' && <ConfirmRemoval connectors={[connector]} onClose={close} />}
    </DetailPage>
  );
}

const ScheduleFacts = ({ schedule, source }: { schedule: Schedule; source: Source | undefined }) => (
  <Facts
    of={[
      [t.columns.state, <ScheduleState key="state" schedule={schedule} />],
      ...(source ? [[t.knowledge, <SourceAge key="age" source={source} />] as const] : []),
      [
        t.columns.next,
        schedule.nextRunAt ? (
          <ZonedTime key="next" at={schedule.nextRunAt} zone={schedule.data.scheduleConfig.timezone} />
        ) : (
          text.none
        ),
      ],
      ...(schedule.pausedAt ? [[t.pausedAt, <Time key="paused" at={schedule.pausedAt} />] as const] : []),
      ...(schedule.pausedUntil
        ? [
            [
              t.pausedUntil,
              <ZonedTime
                key="until"
                at={schedule.pausedUntil}
                zone={schedule.data.scheduleConfig.timezone}
              />,
            ] as const,
          ]
        : []),
      ...(schedule.overdueSince
        ? [[t.overdueSince, <Time key="overdue" at={schedule.overdueSince} />] as const]
        : []),
      [t.worker, t.workers[schedule.worker]],
      [t.missedRuns, schedule.missedRuns],
      [t.retries, schedule.maxRetries],
      [t.attemptTimeout, describeDuration(schedule.timeout)],
      [t.id, <CopyId key="id" value={toKey(schedule)} label={t.id} />],
    ]}
  />
);
