import { constants } from 'node:os';
import type { Logger } from 'pino';
import type { Shutdown } from '../shutdown.js';

/** Handles the events that end the process: a signal, or the exit of its supervisor. */
export interface ExitSignals {
  /** Whether the process has been asked to end. */
  readonly isStopping: boolean;
  /** From now on, signals and uncaught errors run this shutdown instead of ending the process at once. */
  endWith(shutdown: Shutdown, log: Logger): void;
}

/**
 * Handles SIGTERM and SIGINT from now on. As process 1 of a container, Node ignores a signal that has no handler, and
 * the container stays until it is killed. There are two states:
 *
 *   starting   nothing is open that needs an orderly end: a signal ends the process at once, with 128 + its number, so
 *              that a migration which was interrupted is not mistaken for a completed one
 *   running    after `endWith`: a signal runs the shutdown, and the process ends with 0; a second one ends it at once
 */
export function handleExitSignals(): ExitSignals {
  let shutDown: ((reason: string, exitCode: number) => void) | undefined;
  let isStopping = false;
  let exitCodeAtEnd = 0;
  const stop = (reason: string, codeAtOnce: number, exitCode = 0) => {
    if (isStopping || !shutDown) process.exit(exitCode || codeAtOnce);
    isStopping = true;
    shutDown(reason, exitCode);
  };
  for (const signal of ['SIGTERM', 'SIGINT'] as const)
    process.on(signal, () => {
      // A second signal ends the process at once.
      stop(signal, isStopping ? 130 : 128 + constants.signals[signal]);
    });
  // The supervisor that opened this channel has exited, and nothing else would stop this process.
  if (process.channel)
    process.once('disconnect', () => {
      if (!isStopping) stop('the supervisor has gone', 1);
    });
  return {
    get isStopping() {
      return isStopping;
    },
    endWith(shutdown, log) {
      shutDown = (reason, exitCode) => {
        void shutdown.run(reason).then(() => process.exit(exitCode || exitCodeAtEnd));
      };
      const die = (error: unknown) => {
        // `fatal` would flush, and pino's flush never returns when the reader of stdout has gone.
        log.error({ err: error }, 'unexpected error: stopping');
        // While the process stops, buffers are still written; only the exit code reports the fault.
        if (isStopping) exitCodeAtEnd = 1;
        else stop('unexpected error', 1, 1);
      };
      process.on('uncaughtException', die);
      process.on('unhandledRejection', die);
    },
  };
}
