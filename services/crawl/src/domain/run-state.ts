import type { Schedule } from './schedule.js';

/*
 * The states of a run. A row of `runs` is the truth; the queue only says when to look.
 *
 *   (none)    ─ tick claimed ───────────────────► active
 *   (none)    ─ asked for, or missed ───────────► waiting
 *   (none)    ─ another run in progress (recurring), or too late for a schedule that skips ─► skipped
 *   waiting   ─ claimed by a worker ────────────► active
 *   active    ─ task done ──────────────────────► completed   with its sync event, in one transaction
 *   active    ─ task failed, attempts left ─────► retrying
 *   active    ─ task failed, no attempt left ───► failed
 *   active    ─ endpoint away ──────────────────► retrying    the attempt goes on later, within its time
 *   active    ─ worker shuts down ──────────────► waiting     the attempt doesn't count
 *   active    ─ worker vanished ────────────────► active      another worker claims it, a few times; then failed
 *   retrying  ─ back-off over ──────────────────► active
 *   waiting, active, retrying ─ pause, removal, cancelled ─► aborted
 *
 * completed, failed, aborted and skipped are final. Every transition is one statement that names
 * the state it starts from, so of two workers with one run the second changes
 * nothing (`RunClaim` in db/claimed-runs.ts tells the two apart): no run completes twice, none after its abortion, and each lets one event out.
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

/** A new run is looked for in the queue after this: whoever made it may have died before the queue was told. */
export const ENQUEUE_GRACE_MS = 10_000;

/** More, and what the run does to its workers is taken for the cause. */
export const MAX_RECOVERIES = 3;

export interface Tick {
  readonly schedule: Schedule | undefined;
  /** The run of this very tick, when it was claimed before. */
  readonly existing: { readonly id: string; readonly state: RunState } | undefined;
  /** Another run of the connector and organisation. */
  readonly hasOtherInProgress: boolean;
  readonly revision: number;
  readonly scheduledFor: number;
}

export type TickDecision =
  | { readonly action: 'void' | 'stale' | 'start' | 'wait' }
  | { readonly action: 'reclaim'; readonly runId: string }
  | { readonly action: 'skip'; readonly reason: string };

/**
 * What to do with a delivered tick. Deliveries repeat (stalled jobs, rebuilt queues) and come late (a later tick before
 * them), or from a queue that has not heard yet that the schedule was replaced, paused or removed: those are stale, and
 * start nothing. However many ticks are due at once, the first that is claimed stands for all of them. A tick that
 * overlaps is left out, as another will come; a one-off job waits: it has no other.
 */
export function decideTick(tick: Tick, now: number, misfireGraceMs: number): TickDecision {
  const { schedule, existing } = tick;
  if (existing)
    return isInProgress(existing.state) ? { action: 'reclaim', runId: existing.id } : { action: 'void' };
  if (schedule?.revision !== tick.revision || schedule.state !== 'active') return { action: 'stale' };
  const isOvertaken = (schedule.nextRunAt?.getTime() ?? 0) > tick.scheduledFor;
  if (isOvertaken) return { action: 'void' };
  if (tick.hasOtherInProgress && schedule.config.scheduleType !== 'once')
    return { action: 'skip', reason: 'The run before was still in progress' };
  const lateMs = now - tick.scheduledFor;
  if (schedule.config.missedRunPolicy === 'skip' && lateMs > misfireGraceMs)
    return {
      action: 'skip',
      reason: `Missed: it could have started only ${Math.round(lateMs / 1_000)} s late`,
    };
  return { action: tick.hasOtherInProgress ? 'wait' : 'start' };
}
