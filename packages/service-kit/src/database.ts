import pg from 'pg';
import type { Logger } from 'pino';

export interface PoolOptions {
  readonly connectionString: string;
  readonly applicationName: string;
  readonly connectionsMax: number;
  readonly log: Pick<Logger, 'warn'>;
}

/** A request hears of a database that is away within two seconds: half for connecting, half for the answer. */
const CONNECT_TIMEOUT_MS = 1_000;
const QUERY_TIMEOUT_MS = 1_000;

/** Opens no connection by itself; the first query does. */
export function createPool(options: PoolOptions): pg.Pool {
  const pool = new pg.Pool({
    connectionString: options.connectionString,
    application_name: options.applicationName,
    max: options.connectionsMax,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    query_timeout: QUERY_TIMEOUT_MS,
    // The server gives up too, or a slow statement would keep its connection after the client left.
    statement_timeout: QUERY_TIMEOUT_MS,
    idleTimeoutMillis: 60_000,
    keepAlive: true,
  });
  // An idle connection that breaks is replaced by the pool; without a listener it would end the process.
  pool.on('error', (error) => {
    options.log.warn({ err: error }, 'idle database connection lost');
  });
  return pool;
}

/** Class 08 connection, 53 resources, 57P0x shutdown; 57014 is our own statement timeout; P1xxx is Prisma's. */
const unavailableSqlState = /^(?:08...|53...|57P0.|57014|P1001|P1002|P1008|P1017|P2024)$/;
const unavailableErrno = new Set([
  'ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'ETIMEDOUT', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENOENT',
]); // prettier-ignore
const unavailableText =
  /Connection terminated|Query read timeout|timeout exceeded when trying to connect|Client has encountered a connection error|Cannot use a pool after calling end/i;

/** Whether the error, or what caused it, means that the database can't be asked now. */
export function isDatabaseUnavailable(thrown: unknown): boolean {
  let error: unknown = thrown;
  for (let depth = 0; depth < 5 && error !== null && typeof error === 'object'; depth += 1) {
    const { code, message, cause, meta, originalCode } = error as {
      code?: unknown;
      message?: unknown;
      cause?: unknown;
      meta?: { driverAdapterError?: unknown };
      originalCode?: unknown;
    };
    for (const candidate of [code, originalCode])
      if (
        typeof candidate === 'string' &&
        (unavailableSqlState.test(candidate) || unavailableErrno.has(candidate))
      )
        return true;
    if (typeof message === 'string' && unavailableText.test(message)) return true;
    error = cause ?? meta?.driverAdapterError;
  }
  return false;
}
