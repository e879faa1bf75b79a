/** Returns milliseconds since the epoch. It is injected, so that tests can set it. */
export type Clock = () => number;

export const systemClock: Clock = () => Date.now();
