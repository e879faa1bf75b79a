import type { Schedule } from './schedule.js';

/*
 * The states of a run. A row of `runs` is authoritative; the queue only says when to check it.
 *
 *   (none)    ─ tick claimed ───────────────────► active
 *   (none)    ─ requested, or missed ───────────► waiting
 *   (none)    ─ another run in progress (recurring), or too late for a schedule that skips ─► skipped
 *   waiting   ─ claimed by a worker ────────────► active
 *   active    ─ task done ──────────────────────► completed   with its sync event, in one transaction
 *   active    ─ task failed, attempts left ─────► retrying
 *   active    ─ task failed, no attempt left ───► failed
 *   active    ─ endpoint unavailable ───────────► retrying    the attempt continues later, within its time
 *   active    ─ worker shuts down ──────────────► waiting     the attempt doesn't count
 *   active    ─ worker vanished ────────────────► active      another worker claims it, a few times; then failed
 *   retrying  ─ back-off over ──────────────────► active
 *   waiting, active, retrying ─ pause, removal, cancelled ─► aborted
 *
 * completed, failed, aborted and skipped are final. Every transition is one statement that names the state it starts from,
 * so when two workers have the same run the second changes nothing (`RunClaim` in db/claimed-runs.ts distinguishes them):
 * no run completes twice or after it was aborted, and each publishes at most one event.
 */
export const runStates = [
  'waiting',
  'active',
  'retrying',
  'completed',
  'failed',
  'aborted',
  'skipped',
] as const;
export type RunState = (typeof runStates)[number];
export type RunTrigger = 'schedule' | 'manual' | 'missed';

export const isInProgress = (state: RunState): boolean =>
  state === 'waiting' || state === 'active' || state === 'retrying';

/**
 * The time for which a new run may be without a job. After it, the process that inserted the run has probably crashed
 * before adding the job.
 */
export const ENQUEUE_GRACE_MS = 10_000;

/** A run that loses its worker more often than this is taken for the cause, and fails. */
export const MAX_RECOVERIES = 3;

export interface Tick {
  readonly schedule: Schedule | undefined;
  /** The run of this tick, if it was claimed before. */
  readonly existing: { readonly id: string; readonly state: RunState } | undefined;
  /** Whether another run of the connector and organisation is in progress. */
  readonly hasOtherInProgress: boolean;
  readonly revision: number;
  readonly scheduledFor: number;
}

export type TickDecision =
  | { readonly action: 'void' | 'stale' | 'start' | 'wait' }
  | { readonly action: 'reclaim'; readonly runId: string }
  | { readonly action: 'skip'; readonly reason: string };

/**
 * Decides what to do with a delivered tick. Ticks are delivered again (stalled jobs, rebuilt queues), late (after a
 * later tick), or by a queue that does not know yet that the schedule was replaced, paused or removed: those are
 * stale, and start nothing. However many ticks are due at once, the first one claimed stands for all of them. A
 * recurring tick that overlaps a run is skipped, as another will come; a one-off job waits, as it has no other.
 */
export function decideTick(tick: Tick, now: number, misfireGraceMs: number): TickDecision {
  const { schedule, existing } = tick;
  if (existing)
    return isInProgress(existing.state) ? { action: 'reclaim', runId: existing.id } : { action: 'void' };
  if (schedule?.revision !== tick.revision || schedule.state !== 'active') return { action: 'stale' };
  const isOvertaken = (schedule.nextRunAt?.getTime() ?? 0) > tick.scheduledFor;
  if (isOvertaken) return { action: 'void' };
  if (tick.hasOtherInProgress && schedule.config.scheduleType !== 'once')
    return { action: 'skip', reason: 'The previous run was still in progress' };
  const lateMs = now - tick.scheduledFor;
  if (schedule.config.missedRunPolicy === 'skip' && lateMs > misfireGraceMs)
    return {
      action: 'skip',
      reason: `Missed: it would have started ${Math.round(lateMs / 1_000)} s late`,
    };
  return { action: tick.hasOtherInProgress ? 'wait' : 'start' };
}
