import { backoffMs, DAY_MS, HOUR_MS } from '@platform/service-kit';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;

/** The pauses after each attempt: nine attempts in the first 24 hours, twelve in a little more than three days. */
const PAUSES_MS = [
  5 * SECOND,
  MINUTE,
  5 * MINUTE,
  30 * MINUTE,
  HOUR_MS,
  2 * HOUR_MS,
  4 * HOUR_MS,
  8 * HOUR_MS,
  12 * HOUR_MS,
  DAY_MS,
  DAY_MS,
] as const;

/** After an outage of this length, a destination that accepts something again gets at once what has waited meanwhile. */
export const OUTAGE_MS = 10 * MINUTE;
/** A delivery that was tried more often keeps its times, so that a single refused fact is retried for more than a day. */
export const HASTENED_ATTEMPTS = PAUSES_MS.length - 2;
/** During an outage the pauses grow up to this one: an hour. */
export const MAX_OUTAGE_PAUSES = PAUSES_MS.indexOf(HOUR_MS) + 1;

/** A receiver can ask for no longer pause with `Retry-After`. */
export const MAX_RETRY_AFTER_MS = DAY_MS;

/** A destination that accepts nothing for so long is disabled. */
export const DISABLED_AFTER_MS = 5 * DAY_MS;

/** @returns when a fact is sent again that was sent so often; undefined when it is not. */
export const findNextAttempt = (attemptCount: number, now: number): Date | undefined => {
  const pauseMs = PAUSES_MS[attemptCount - 1];
  return pauseMs === undefined ? undefined : new Date(now + pauseMs);
};

/**
 * @param failures - how often in a row the destination has accepted nothing.
 * @returns until when nothing is sent to it.
 */
export const findResumption = (failures: number, now: number): Date =>
  new Date(now + backoffMs(failures, { firstMs: 5 * SECOND, maxMs: 15 * MINUTE }));
