/** Milliseconds since the epoch. Injected, so that tests can move it. */
export type Clock = () => number;

export const systemClock: Clock = () => Date.now();
