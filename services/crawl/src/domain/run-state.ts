import type { MissedRunPolicy } from './schedule-config.js';

/*
 * The states of a run. A row of `runs` is authoritative; the queue only says that a connector has work.
 *
 *   (none)    ─ due, requested, or rung for ────► waiting
 *   (none)    ─ another run in progress (recurring), or too late for a schedule that skips ─► skipped
 *   waiting   ─ claimed by a worker ────────────► active
 *   waiting   ─ too late for a schedule that skips, when a worker gets to it ─► skipped
 *   active    ─ task done ──────────────────────► completed   with its sync event, in one transaction
 *   active    ─ slice done, more to crawl ──────► waiting     behind the others, with its attempts fresh
 *   active    ─ task failed, attempts left ─────► retrying
 *   active    ─ task failed, no attempt left ───► failed
 *   active    ─ endpoint unavailable ───────────► retrying    the attempt continues later, within its time
 *   active    ─ worker shuts down ──────────────► waiting     the attempt doesn't count
 *   active    ─ claim expired, worker vanished ─► waiting     another worker continues the attempt, a few times; then failed
 *   active    ─ claim expired, but renewed ─────► active      the row learns when it now expires
 *   retrying  ─ back-off over, claimed ─────────► active
 *   waiting, active, retrying ─ pause, removal, cancelled ─► aborted
 *
 * completed, failed, aborted and skipped are final. Every transition is one statement that names the state it starts from,
 * and each claim has a number, so when two workers have the same run the second changes nothing (`RunClaim` in
 * db/claimed-runs.ts): no run completes twice or after it was aborted, and each publishes at most one event.
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
/** `missed`: of the schedule, but not made at its time. `hook`: the source asked for it. */
export const runTriggers = ['schedule', 'manual', 'missed', 'hook'] as const;
export type RunTrigger = (typeof runTriggers)[number];

/** Whether a run stands for a time of its schedule. */
export const isOfSchedule = (trigger: RunTrigger): boolean => trigger === 'schedule' || trigger === 'missed';

/** `full`: everything, so that what a consumer has not seen is gone. `incremental`: what has changed. */
export const runModes = ['incremental', 'full'] as const;
export type RunMode = (typeof runModes)[number];

export const isInProgress = (state: RunState): boolean =>
  state === 'waiting' || state === 'active' || state === 'retrying';

/** A run that loses its worker more often than this is taken for the cause, and fails. */
export const MAX_RECOVERIES = 3;

/**
 * Returns why a run of a schedule does not start when it is late; null when it does. However many times were missed, the
 * first one stands for all of them.
 */
export function findSkipReason(
  policy: MissedRunPolicy,
  lateMs: number,
  misfireGraceMs: number,
): string | null {
  if (policy !== 'skip' || lateMs <= misfireGraceMs) return null;
  return `Missed: it would have started ${Math.round(lateMs / 1_000)} s late`;
}
