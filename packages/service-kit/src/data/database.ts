import pg from 'pg';
import type { Logger } from 'pino';
import { TracedClient } from '../telemetry/tracing/postgres-spans.js';
import { DEFAULT_DATABASE_TIMEOUT_MS } from '../config/service-variables.js';
import type { Shutdown } from '../shutdown.js';
import { isTracing } from '../telemetry/tracing/spans.js';

export interface PoolOptions {
  readonly connectionString: string;
  readonly applicationName: string;
  readonly maxConnections: number;
  /** PostgreSQL settings of these connections, such as `plan_cache_mode`. */
  readonly settings?: Readonly<Record<string, string>>;
  /** The time limit of a query, which includes the wait for a connection. Default 1,000. */
  readonly timeoutMs?: number | undefined;
  readonly log: Pick<Logger, 'warn'>;
  /** Closes the pool at the end of the process. */
  readonly shutdown?: Shutdown;
}

const IDLE_IN_TRANSACTION_TIMEOUT_MS = 5_000;

/**
 * Gives each query one deadline. pg would start the statement's time limit only when a connection is free, so a query
 * could take twice as long. In a transaction, acquiring the connection and each statement have the time limit.
 */
class DeadlinePool extends pg.Pool {
  readonly #timeoutMs: number;

  constructor(options: pg.PoolConfig, timeoutMs: number) {
    super({ ...options, connectionTimeoutMillis: timeoutMs, query_timeout: timeoutMs });
    this.#timeoutMs = timeoutMs;
  }

  /** Supports the forms that return a promise. */
  override readonly query = ((statement: string | pg.QueryConfig, values?: unknown[]) =>
    this.#query(typeof statement === 'string' ? { text: statement } : statement, values)) as pg.Pool['query'];

  async #query(statement: pg.QueryConfig, values: unknown[] | undefined): Promise<pg.QueryResult> {
    const deadline = performance.now() + this.#timeoutMs;
    const client = await this.connect();
    try {
      const timeLimit = { query_timeout: Math.max(1, Math.ceil(deadline - performance.now())) };
      const result = await client.query({ ...statement, ...(values && { values }), ...timeLimit });
      client.release();
      return result;
    } catch (error) {
      // Like pg's own pool, which keeps no connection after an error.
      client.release(true);
      throw error;
    }
  }
}

/** The SQLSTATE of a statement that a standby refuses. */
const READ_ONLY = '25006';

const toReadOnlyError = (): Error =>
  Object.assign(new Error('the database takes no writes: it is a standby, or read-only'), {
    code: READ_ONLY,
  });

/**
 * The `verify` of a pool: refuses new connections to a standby. A name may lead to the old primary for a moment after a
 * failover, and a connection that began there would stay, and read what is old. One that began at a primary ends when that
 * becomes a standby. The error counts as an unavailable database.
 */
export function refuseStandby(client: Pick<pg.ClientBase, 'query'>, settle: (error?: Error) => void): void {
  client
    .query<{ isStandby: boolean }>('select pg_is_in_recovery() as "isStandby"')
    .then(({ rows }) => (rows[0]?.isStandby ? toReadOnlyError() : undefined))
    .then(settle, settle);
}

/** The readiness of a database: one that answers and takes no writes is not ready. @throws while it takes none. */
export async function assertWritable(pool: Pick<pg.Pool, 'query'>): Promise<void> {
  const { rows } = await pool.query<{ isReadOnly: boolean }>(
    `select current_setting('transaction_read_only')::boolean as "isReadOnly"`,
  );
  if (rows[0]?.isReadOnly) throw toReadOnlyError();
}

/** Creates a pool, which opens its first connection at the first query. */
export function createPool(options: PoolOptions): pg.Pool {
  const { timeoutMs = DEFAULT_DATABASE_TIMEOUT_MS } = options;
  const settings = Object.entries(options.settings ?? {}).map(([name, value]) => `-c ${name}=${value}`);
  const config: pg.PoolConfig = {
    connectionString: options.connectionString,
    application_name: options.applicationName,
    ...(settings.length > 0 && { options: settings.join(' ') }),
    max: options.maxConnections,
    // The server gives up too; otherwise a slow statement would occupy its connection after the client left.
    statement_timeout: timeoutMs,
    // A transaction that its client has abandoned must not keep its locks.
    idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_TIMEOUT_MS,
    idleTimeoutMillis: 60_000,
    keepAlive: true,
    verify: refuseStandby,
    ...(isTracing() && { Client: TracedClient }),
  };
  const pool = new DeadlinePool(config, timeoutMs);
  options.shutdown?.on('close', `connections of ${options.applicationName}`, () => pool.end());
  // A statement that timed out may leave its transaction open, and the rollback behind it times out too. Without this, the
  // next user's statements would succeed inside that transaction and never be committed.
  pool.on('release', (_error, client) => {
    if (client.getTransactionStatus() !== 'I')
      void (client as unknown as pg.Client).end().catch(() => undefined);
  });
  // The pool does not listen to errors of a connection in use. Without this listener, a connection that breaks in a transaction
  // would end the process; with it, the next statement fails.
  pool.on('connect', (client) => {
    client.on('error', () => undefined);
  });
  // An idle connection that breaks is replaced by the pool; without a listener it would end the process.
  pool.on('error', (error) => {
    options.log.warn({ err: error }, 'idle database connection lost');
  });
  return pool;
}

/**
 * Class 08 is connections, 53 resources, 57P0x shutdown; 57014 statement timeouts, 55P03 lock timeouts; 25006 a server that
 * has become a standby; 40001 and 40P01 serialization failures and deadlocks, which a repetition ends; P1xxx is Prisma's.
 */
const unavailableSqlState =
  /^(?:08...|53...|25006|40001|40P01|55P03|57P0.|57014|P1001|P1002|P1008|P1017|P2024|P2028)$/;
// oxfmt-ignore
const unavailableErrno = new Set([
  'ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'ETIMEDOUT', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH',
]);
const unavailableText =
  /Connection terminated|Query read timeout|timeout expired|timeout exceeded when trying to connect|Client has encountered a connection error|Cannot use a pool after calling end/i;

/** What Prisma's adapter calls errors of a connection. A raw statement that fails with one has no code of its own. */
// oxfmt-ignore
const unavailableKind = new Set([
  'ConnectionClosed', 'DatabaseNotReachable', 'SocketTimeout', 'TlsConnectionError', 'TooManyConnections', 'TransactionWriteConflict',
]);

/** Returns whether the error or one of its causes means that the database is unavailable. */
export function isDatabaseUnavailable(thrown: unknown): boolean {
  let error: unknown = thrown;
  for (let depth = 0; depth < 5 && error !== null && typeof error === 'object'; depth += 1) {
    const { code, kind, message, cause, meta, originalCode, syscall } = error as {
      code?: unknown;
      kind?: unknown;
      syscall?: unknown;
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
    if (typeof kind === 'string' && unavailableKind.has(kind)) return true;
    // A missing socket file; any other missing file has nothing to do with the database.
    if (code === 'ENOENT' && syscall === 'connect') return true;
    if (typeof message === 'string' && unavailableText.test(message)) return true;
    error = cause ?? meta?.driverAdapterError;
  }
  return false;
}
