/** Returns milliseconds since the epoch. It is injected, so that tests can set it. */
export type Clock = () => number;

export const systemClock: Clock = () => Date.now();

export const HOUR_MS = 3_600_000;
export const DAY_MS = 24 * HOUR_MS;
