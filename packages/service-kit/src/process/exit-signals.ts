import { constants } from 'node:os';
import type { Logger } from 'pino';
import type { Shutdown } from './shutdown.js';

/** What ends the process: a signal, or the supervisor that goes away. */
export interface ExitSignals {
  /** Whether the process has been told to end. */
  readonly isStopping: boolean;
  /** Makes signals, and errors that nobody catches, end the process by this shutdown instead of at once. */
  endWith(shutdown: Shutdown, log: Logger): void;
}

/**
 * Handles SIGTERM and SIGINT from now on. As process 1 of a container, Node ignores a signal that has no handler, and
 * the container stays until it is killed. There are two states:
 *
 *   starting   nothing is open that wants an orderly end: a signal ends the process at once, with 128 + its number, so
 *              that nobody takes a migration that was stopped for one that was done
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
      // A second signal means: now.
      stop(signal, isStopping ? 130 : 128 + constants.signals[signal]);
    });
  // A supervisor that started us with a channel has gone: nobody would ever stop us.
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
        // Not `fatal`: that flushes, and pino's flush never returns when the reader of stdout has gone.
        log.error({ err: error }, 'unexpected error: stopping');
        // While it stops, what is buffered is still written: only the exit code tells of the fault.
        if (isStopping) exitCodeAtEnd = 1;
        else stop('unexpected error', 1, 1);
      };
      process.on('uncaughtException', die);
      process.on('unhandledRejection', die);
    },
  };
}
