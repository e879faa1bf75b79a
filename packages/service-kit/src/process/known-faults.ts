import { ConfigError } from '../config/config.js';
import { isDatabaseUnavailable } from '../data/database.js';
import { MigrationError } from '../data/apply-migration.js';

/** 3D000 no such database, 28 wrong login, 42501 no right. */
const unusableSqlState = /^(?:3D000|28...|42501)$/;

/** @returns one line for a fault that whoever starts the program can mend, undefined for one of our own. */
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
 * With which a program ends whose database lacks a migration, or has one that it does not know: a supervisor can run
 * the command `migrate`, and start it again. (EX_CONFIG of sysexits.h)
 */
const EXIT_CODE_NOT_MIGRATED = 78;

/** @returns the exit code of a program that ends with this error. */
export const toExitCode = (error: unknown): number =>
  error instanceof MigrationError ? EXIT_CODE_NOT_MIGRATED : 1;
