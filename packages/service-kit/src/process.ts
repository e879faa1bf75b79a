import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { ServiceApp } from './app.js';
import { prepareClose } from './close-listener.js';
import { ConfigError } from './config.js';
import { isDatabaseUnavailable } from './database.js';
import { MigrationError } from './migrations.js';
import type { Shutdown } from './shutdown.js';
import { keepTickShape } from './tick-shape.js';

export interface ServeOptions extends ServiceApp {
  readonly host: string;
  readonly port: number;
  /** How long to stay up, not ready, before the listener closes, so that load balancers notice. */
  readonly shutdownDelayMs: number;
  readonly shutdown: Shutdown;
  readonly log: Logger;
}

/** Listens, and ties the process's signals to the shutdown. */
export async function serve(options: ServeOptions): Promise<void> {
  const { app, health, shutdown, log } = options;
  shutdown.on('unready', 'readiness', async () => {
    health.isStopping = true;
    await delay(options.shutdownDelayMs);
  });
  const closeListener = prepareClose(app, options.shutdownDelayMs);
  shutdown.on('http', 'listener', closeListener);
  onExitSignals(shutdown, log);
  await app.listen({ host: options.host, port: options.port });
}

function onExitSignals(shutdown: Shutdown, log: Logger): void {
  let isStopping = false;
  let exitCodeAtEnd = 0;
  const stop = (reason: string, exitCode: number) => {
    // A second signal means: now.
    if (isStopping) process.exit(exitCode || 130);
    isStopping = true;
    void shutdown.run(reason).then(() => process.exit(exitCode || exitCodeAtEnd));
  };
  process.on('SIGTERM', () => {
    stop('SIGTERM', 0);
  });
  process.on('SIGINT', () => {
    stop('SIGINT', 0);
  });
  // A supervisor that started us with a channel has gone: nobody would ever stop us.
  if (process.channel)
    process.once('disconnect', () => {
      if (!isStopping) stop('the supervisor has gone', 0);
    });
  const die = (error: unknown) => {
    // Not `fatal`: that flushes, and pino's flush never returns when the reader of stdout has gone.
    log.error({ err: error }, 'unexpected error: stopping');
    // While it stops, what is buffered is still written: only the exit code tells of the fault.
    if (isStopping) exitCodeAtEnd = 1;
    else stop('unexpected error', 1);
  };
  process.on('uncaughtException', die);
  process.on('unhandledRejection', die);
}

/** 3D000 no such database, 28 wrong login, 42501 no right. */
const unusableSqlState = /^(?:3D000|28...|42501)$/;

/** @returns one line for a fault that whoever starts the program can mend, undefined for one of our own. */
function describeKnown(error: unknown): string | undefined {
  if (error instanceof ConfigError || error instanceof MigrationError) return error.message;
  const { code = '', message, syscall } = error as NodeJS.ErrnoException;
  if (syscall === 'listen') return `Can't listen (${message}). Check HOST and PORT.`;
  if (unusableSqlState.test(code)) return `The database can't be used (${message}). Check DATABASE_URL.`;
  return isDatabaseUnavailable(error)
    ? `The database can't be reached (${code || message}). Check DATABASE_URL, and that the server runs.`
    : undefined;
}

/**
 * With which a program ends whose database lacks a migration, or has one that it does not know: a supervisor can run
 * the command `migrate`, and start it again. (EX_CONFIG of sysexits.h)
 */
const EXIT_CODE_NOT_MIGRATED = 78;

/** Runs a program's main function; a known fault is told in plain lines, without a stack. */
export async function runMain(main: () => Promise<void>): Promise<void> {
  keepTickShape();
  try {
    await main();
  } catch (error) {
    const text =
      error instanceof Error ? (describeKnown(error) ?? error.stack ?? error.message) : String(error);
    process.stderr.write(`${text}\n`);
    process.exit(error instanceof MigrationError ? EXIT_CODE_NOT_MIGRATED : 1);
  }
}
