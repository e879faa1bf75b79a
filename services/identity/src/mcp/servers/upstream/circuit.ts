import type { Clock } from '@platform/service-kit';

/*
 * The state of a server, in each replica:
 *
 *   closed     calls are sent; FAILURES in a row open the circuit
 *   open       calls fail at once, until a time that doubles with each failed trial
 *   half-open  that time has passed: one call is sent as a trial, and decides
 */

const FAILURES = 5;
const FIRST_PAUSE_MS = 5_000;
const MAX_PAUSE_MS = 120_000;
const MAX_SERVERS = 10_000;

interface State {
  failures: number;
  pauseMs: number;
  /** Milliseconds since the epoch; 0 while closed. */
  openUntil: number;
  isOnTrial: boolean;
}

export function createCircuits(clock: Clock) {
  const states = new Map<string, State>();
  return {
    /** Returns undefined when a call may be sent, or else in how many milliseconds to try again. */
    tryEnter(serverId: string): number | undefined {
      const state = states.get(serverId);
      if (!state || state.openUntil === 0) return undefined;
      const waitMs = state.openUntil - clock();
      if (waitMs > 0) return waitMs;
      if (state.isOnTrial) return FIRST_PAUSE_MS;
      state.isOnTrial = true;
      return undefined;
    },
    succeed: (serverId: string) => states.delete(serverId),
    fail(serverId: string): void {
      const state = states.get(serverId) ?? {
        failures: 0,
        pauseMs: FIRST_PAUSE_MS,
        openUntil: 0,
        isOnTrial: false,
      };
      state.failures += 1;
      const isReopened = state.isOnTrial;
      state.isOnTrial = false;
      if (isReopened) state.pauseMs = Math.min(MAX_PAUSE_MS, state.pauseMs * 2);
      if (isReopened || (state.failures >= FAILURES && state.openUntil === 0))
        state.openUntil = clock() + state.pauseMs;
      // Servers that were removed while they failed must not be remembered for ever.
      if (states.size >= MAX_SERVERS) states.clear();
      states.set(serverId, state);
    },

    /** Ends a call that proves nothing about the server, such as a call that its caller cancelled. */
    leave(serverId: string): void {
      const state = states.get(serverId);
      if (state) state.isOnTrial = false;
    },
  };
}

export type Circuits = ReturnType<typeof createCircuits>;
