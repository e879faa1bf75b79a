import { Type } from 'typebox';
import { MAX_RUNS_AHEAD, type ScheduleStatus, type ShownRun } from '../../db/schedule-status.js';

/** A worker that waits for a run asks again at least this often. */
const WORKER_SEEN_MS = 120_000;

const codes = {
  paused: 'the schedule is paused, perhaps until a time at which it resumes by itself',
  finished: 'a one-off schedule has had its run',
  not_due: 'its next time has not come',
  failing: 'its next time has not come, and the last runs have failed',
  overdue: 'its time has passed, but no run was made: no worker of the service is running',
  waits_for_place: "a run waits for one of the connector's places, behind others, or for the queue",
  waits_for_worker: 'a run waits until a worker claims it',
  worker_away: 'the endpoint cannot be reached, or no worker asks for runs of the connector any more',
  no_worker: 'no worker has ever asked for runs of the connector',
  retrying: 'the last attempt has failed, and is followed by another one',
} as const;
type StandstillCode = keyof typeof codes;

export const Standstill = Type.Union(
  [
    Type.Object({
      code: Type.Unsafe<StandstillCode>({
        enum: Object.keys(codes),
        description: Object.entries(codes)
          .map(([code, meaning]) => `\`${code}\`: ${meaning}.`)
          .join(' '),
      }),
      message: Type.String({ description: 'A sentence with the times, numbers and reasons.' }),
    }),
    Type.Null(),
  ],
  { description: 'Why the connector is not being crawled now; null while it is.' },
);
export type Standstill = Type.Static<typeof Standstill>;

const countRuns = (count: number): string =>
  `${count}${count >= MAX_RUNS_AHEAD ? ' or more' : ''} ${count === 1 ? 'run' : 'runs'}`;

function explainWaiting(
  { workerSeenAt, runsAhead }: ScheduleStatus,
  { worker }: ShownRun,
  now: number,
): Standstill {
  if (worker !== 'pull')
    return {
      code: 'waits_for_place',
      message: `It waits for one of the connector's places, behind ${countRuns(runsAhead)}.`,
    };
  if (!workerSeenAt)
    return { code: 'no_worker', message: 'No worker has ever asked for runs of this connector.' };
  const isAway = now - workerSeenAt.getTime() > WORKER_SEEN_MS;
  return isAway
    ? {
        code: 'worker_away',
        message: `No worker has asked for runs of this connector since ${workerSeenAt.toISOString()}.`,
      }
    : { code: 'waits_for_worker', message: 'It waits until a worker claims it.' };
}

function explainRun(status: ScheduleStatus, run: ShownRun, now: number): Standstill {
  const reason = run.reason ?? 'no reason';
  if (run.unavailableSince) return { code: 'worker_away', message: `${reason.replace(/\.$/, '')}.` };
  if (run.state === 'active') return null;
  if (run.state === 'waiting') return explainWaiting(status, run, now);
  if (run.state === 'retrying')
    return { code: 'retrying', message: `Attempt ${run.attempts} failed with: ${reason}` };
  return { code: 'finished', message: 'The one-off schedule has had its run.' };
}

/** Explains why a schedule is not being crawled. @param now - epoch ms. */
export function explainStandstill(status: ScheduleStatus, now: number): Standstill {
  const { schedule, run, health } = status;
  if (schedule.state === 'paused') {
    const since = schedule.pausedAt ? ` since ${schedule.pausedAt.toISOString()}` : '';
    const until = schedule.pausedUntil ? ` until ${schedule.pausedUntil.toISOString()}` : '';
    return { code: 'paused', message: `The schedule is paused${since}${until}.` };
  }
  if (run) return explainRun(status, run, now);
  const next = schedule.nextRunAt;
  if (!next) return { code: 'finished', message: 'The one-off schedule has had its run.' };
  const at = next.toISOString();
  if (next.getTime() <= now) return { code: 'overdue', message: `It was due at ${at}; no run was made yet.` };
  const { consecutiveFailures: count, lastFailure } = health;
  if (count > 0)
    return {
      code: 'failing',
      message: `It is due at ${at}. The last ${count === 1 ? 'run' : `${count} runs`} failed with: ${lastFailure ?? 'no reason'}`,
    };
  return { code: 'not_due', message: `It is due at ${at}.` };
}
