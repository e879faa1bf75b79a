import { Type } from 'typebox';
import type { ScheduleStatus, ShownRun } from '../../db/schedule-status.js';
import { toJobKey, toQueueName } from '../../domain/connectors.js';
import { isOfSchedule, type RunState } from '../../domain/run-state.js';
import { RUN_WORKER, type RunWorker, runWorkers } from '../../domain/run-worker.js';
import { ScheduleConfig } from '../../domain/schedule-config.js';
import type { Schedule } from '../../domain/schedule.js';
import { explainStandstill, Standstill } from './standstill.js';

const Nullable = <
  T extends ReturnType<typeof Type.String> | ReturnType<typeof Type.Integer> | ReturnType<typeof Type.Number>,
>(
  type: T,
) => Type.Union([type, Type.Null()]);

export const jobStates = ['waiting', 'active', 'completed', 'failed', 'delayed', 'paused'] as const;
export type JobState = (typeof jobStates)[number];

/** The fields of CRAWL-13, and more after `state`. */
export const StatusItem = Type.Object(
  {
    id: Type.String(),
    name: Type.String(),
    data: Type.Object({
      connector: Type.String(),
      scheduleConfig: ScheduleConfig,
      orgId: Type.String(),
      userId: Type.String(),
      timestamp: Type.String({ format: 'date-time' }),
      metadata: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
    }),
    progress: Type.Integer({ minimum: 0, maximum: 100 }),
    delay: Nullable(Type.Integer()),
    timestamp: Type.Integer({ description: 'Milliseconds since the epoch.' }),
    attemptsMade: Type.Integer(),
    finishedOn: Nullable(Type.Integer()),
    processedOn: Nullable(Type.Integer()),
    failedReason: Nullable(Type.String()),
    state: Type.Unsafe<JobState>({ enum: [...jobStates] }),
    priority: Type.Integer(),
    maxRetries: Type.Integer(),
    timeout: Type.Integer(),
    nextRunAt: Nullable(Type.String({ format: 'date-time' })),
    pausedAt: Nullable(Type.String({ format: 'date-time' })),
    pausedUntil: Nullable(Type.String({ format: 'date-time', description: 'When it resumes by itself.' })),
    standstill: Standstill,
    overdueSince: Nullable(
      Type.String({ format: 'date-time', description: 'Set while an expected run has not started in time.' }),
    ),
    worker: Type.Unsafe<RunWorker>({ enum: [...runWorkers], description: RUN_WORKER }),
    endpointId: Nullable(Type.String({ format: 'uuid', description: 'The endpoint that crawls.' })),
    fullEvery: Nullable(
      Type.String({ description: 'How often everything is crawled instead of the changes, such as `P7D`.' }),
    ),
    consecutiveFailures: Type.Integer({ description: 'How many runs in a row have failed.' }),
    lastFailure: Nullable(
      Type.String({ description: 'Why the last run failed; null after a completed one.' }),
    ),
    lastCompletedAt: Nullable(Type.String({ format: 'date-time' })),
    missedRuns: Type.Integer({
      description: 'Expected runs that did not happen at their time, since it was scheduled.',
    }),
    instance: Type.String({ description: 'Which of the connectors of this type.' }),
    displayName: Nullable(Type.String({ description: 'What the instance is called.' })),
  },
  { title: 'CrawlJobStatus' },
);
export type StatusItem = Type.Static<typeof StatusItem>;

const jobStatesByRunState: Readonly<Record<RunState, JobState>> = {
  waiting: 'waiting',
  active: 'active',
  // The run waits for its back-off, which BullMQ calls delayed, too.
  retrying: 'delayed',
  completed: 'completed',
  failed: 'failed',
  aborted: 'failed',
  skipped: 'failed',
};

export function getState(
  schedule: Pick<Schedule, 'state' | 'nextRunAt'>,
  run: ShownRun | undefined,
  now: number,
): JobState {
  if (schedule.state === 'paused') return 'paused';
  if (run) return jobStatesByRunState[run.state];
  return schedule.nextRunAt !== null && schedule.nextRunAt.getTime() > now ? 'delayed' : 'waiting';
}

const iso = (date: Date | null): string | null => date?.toISOString() ?? null;

/** The moment at which a schedule is shown. */
export interface ShownAt {
  /** Epoch ms. */
  readonly at: number;
  /** How late a run may be before it counts as overdue. */
  readonly overdueGraceMs: number;
}

/** Returns the time of a run that should have started by now; null when there is none. */
function findOverdue(
  schedule: Schedule,
  run: ShownRun | undefined,
  { at, overdueGraceMs }: ShownAt,
): Date | null {
  const expected = run
    ? run.state === 'waiting' && isOfSchedule(run.trigger) && run.startedAt === null
      ? run.scheduledFor
      : null
    : schedule.nextRunAt;
  return schedule.state === 'active' && expected && at - expected.getTime() > overdueGraceMs
    ? expected
    : null;
}

export function toStatusItem(status: ScheduleStatus, shownAt: ShownAt): StatusItem {
  const { schedule, displayName, run, health } = status;
  const { connector, orgId, metadata } = schedule;
  const now = shownAt.at;
  // A one-off schedule whose run is in progress has no other time.
  const nextRunAt = schedule.nextRunAt ?? (schedule.state === 'active' ? (run?.scheduledFor ?? null) : null);
  const state = getState(schedule, run, now);
  return {
    id: toJobKey(schedule),
    name: toQueueName(connector),
    data: {
      connector,
      scheduleConfig: schedule.config,
      orgId,
      userId: schedule.userId,
      timestamp: schedule.scheduledAt.toISOString(),
      ...(metadata === null ? {} : { metadata }),
    },
    progress: run?.progress ?? 0,
    delay: state === 'delayed' && !run && nextRunAt ? Math.max(0, nextRunAt.getTime() - now) : null,
    timestamp: (run?.createdAt ?? schedule.scheduledAt).getTime(),
    attemptsMade: run?.attempts ?? 0,
    finishedOn: run?.finishedAt?.getTime() ?? null,
    processedOn: run?.startedAt?.getTime() ?? null,
    failedReason: run?.reason ?? null,
    state,
    priority: schedule.priority,
    maxRetries: schedule.maxRetries,
    timeout: schedule.timeoutMs,
    nextRunAt: iso(nextRunAt),
    pausedAt: iso(schedule.pausedAt),
    pausedUntil: iso(schedule.pausedUntil),
    standstill: explainStandstill(status, now),
    overdueSince: iso(findOverdue(schedule, run, shownAt)),
    worker: schedule.worker,
    endpointId: schedule.endpointId,
    fullEvery: schedule.fullEveryDays === null ? null : `P${schedule.fullEveryDays}D`,
    consecutiveFailures: health.consecutiveFailures,
    lastFailure: health.lastFailure,
    lastCompletedAt: iso(health.lastCompletedAt),
    missedRuns: schedule.missedRuns,
    instance: schedule.instance,
    displayName,
  };
}
