import { crawls as t } from '#text/crawls';
import { text } from '#text/shared';
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { getConnectorName } from '../../ui/connector-name.ts';
import { ConnectorName } from '../../ui/connector.tsx';
import { Badge } from '../../ui/badge.tsx';
import type { DataColumn } from '../../ui/data-table.tsx';
import { createMenuColumn, type MenuAction } from '../../ui/menu.tsx';
import { Time } from '../../ui/time.tsx';
import { useIsVisible } from '../../ui/use-is-visible.ts';
import { type Act, recentRunsQuery, type Run, type Schedule, toKey } from './api.ts';
import { ScheduleWords } from './schedule-words.tsx';
import { Outcome, RunMarks, ScheduleState } from './states.tsx';

interface RowActions {
  edit(schedule: Schedule): void;
  perform(act: Act, connectors: readonly string[]): void;
}

interface RecentRunsProps {
  readonly connector: string;
  readonly className?: string;
  readonly children: (runs: readonly Run[]) => ReactNode;
}

/** Reads the newest runs of a connector while its row is in sight: there may be a thousand. */
function RecentRuns({ connector, className, children }: RecentRunsProps) {
  const [ref, isVisible] = useIsVisible();
  const { data } = useQuery({ ...recentRunsQuery(connector), enabled: isVisible });
  return (
    <span ref={ref} className={className}>
      {data && children(data)}
    </span>
  );
}

const LastRun = ({ connector }: { connector: string }) => (
  <RecentRuns connector={connector} className="stack">
    {([run]) =>
      run ? (
        <>
          <Outcome {...run} />
          <small className="since">
            <Time at={run.finishedAt ?? run.startedAt ?? run.scheduledFor} />
          </small>
        </>
      ) : (
        <span className="quiet-text">{text.none}</span>
      )
    }
  </RecentRuns>
);

function listScheduleActions(schedule: Schedule, { edit, perform }: RowActions): readonly MenuAction[] {
  const connectors = [toKey(schedule)];
  const isPaused = schedule.state === 'paused';
  const pauseOrResume = isPaused ? 'resume' : 'pause';
  return [
    {
      label: t.acts.run,
      hindrance: isPaused ? t.runWhilePaused : undefined,
      run: () => perform('run', connectors),
    },
    { label: t.acts[pauseOrResume], run: () => perform(pauseOrResume, connectors) },
    { label: t.edit, run: () => edit(schedule) },
    { label: t.acts.remove, isDangerous: true, run: () => perform('remove', connectors) },
  ];
}

/** The details of a schedule that a phone shows below its connector. */
export const foldSchedule = (schedule: Schedule) => (
  <>
    <LastRun connector={toKey(schedule)} />
    {schedule.nextRunAt !== null && (
      <span>
        {t.nextIn} <Time at={schedule.nextRunAt} />
      </span>
    )}
  </>
);

export const createCrawlColumns = (actions: RowActions): readonly DataColumn<Schedule>[] => [
  {
    id: 'connector',
    label: t.columns.connector,
    render: ({ instance, displayName, data }) => (
      <span className="stack">
        <ConnectorName connector={data.connector} instance={instance} displayName={displayName} />
        <small className="secondary">
          <ScheduleWords config={data.scheduleConfig} />
        </small>
      </span>
    ),
  },
  {
    id: 'state',
    label: t.columns.state,
    render: (schedule) => (
      <span className="stack">
        <ScheduleState schedule={schedule} />
        {schedule.worker === 'event' && (
          <span className="wide" title={t.workers.event}>
            <Badge tone="notice">{t.noWorker}</Badge>
          </span>
        )}
      </span>
    ),
  },
  {
    id: 'next',
    label: t.columns.next,
    isSecondary: true,
    render: ({ nextRunAt }) => (nextRunAt === null ? text.none : <Time at={nextRunAt} />),
  },
  {
    id: 'last',
    label: t.columns.last,
    isSecondary: true,
    render: (schedule) => <LastRun connector={toKey(schedule)} />,
  },
  {
    id: 'marks',
    label: t.columns.marks,
    isNarrow: true,
    isWide: true,
    render: (schedule) => (
      <RecentRuns connector={toKey(schedule)}>{(runs) => <RunMarks runs={runs} />}</RecentRuns>
    ),
  },
  createMenuColumn({
    getName: (schedule) => getConnectorName(toKey(schedule), schedule.displayName),
    listActions: (schedule) => listScheduleActions(schedule, actions),
  }),
];
