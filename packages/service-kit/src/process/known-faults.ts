import { ConfigError } from '../config/config.js';
import { isDatabaseUnavailable } from '../data/database.js';
import { FailedMigrationError, MigrationError } from '../data/apply-migration.js';

/** 3D000 is a missing database, class 28 a failed login, 42501 a missing privilege. */
const unusableSqlState = /^(?:3D000|28...|42501)$/;

/** @returns one line for a fault that the operator can fix, or undefined for a fault of the program. */
export function describeKnownFault(error: unknown): string | undefined {
  if (error instanceof ConfigError || error instanceof MigrationError) return error.message;
  const { code = '', message, syscall } = error as NodeJS.ErrnoException;
  if (syscall === 'listen') return `Can't listen (${message}). Check HOST and PORT.`;
  if (unusableSqlState.test(code)) return `The database can't be used (${message}). Check DATABASE_URL.`;
  return isDatabaseUnavailable(error)
    ? `The database can't be reached (${code || message}). Check DATABASE_URL, and that the server runs.`
    : undefined;
}

/**
 * The exit code of a program whose database lacks a migration or has an unknown one (EX_CONFIG of sysexits.h). Repeating
 * the same program does not help, so the chart ends a migration Job at it; a supervisor can run the `migrate` command and
 * start the service again.
 */
const EXIT_CODE_NOT_MIGRATED = 78;

/** @returns the exit code of a program that ends with this error. */
export const toExitCode = (error: unknown): number =>
  error instanceof MigrationError && !(error instanceof FailedMigrationError) ? EXIT_CODE_NOT_MIGRATED : 1;
