import { AsyncLocalStorage } from 'node:async_hooks';
import pg from 'pg';

/** Decides when a statement of an actor may be sent. */
export interface Gate {
  /** Sends the statement when it is its turn. @param pid - the process of the server that executes it. */
  pass<Result>(
    statement: { readonly text: string; readonly pid: number },
    send: () => Promise<Result>,
  ): Promise<Result>;
}

/** The actor whose code is running. Whatever runs outside of an actor, such as a job, sends its statements at once. */
const currentGate = new AsyncLocalStorage<Gate>();

/** Runs a function as an actor: each of its statements waits at the gate. */
export const runBehind = <Result>(gate: Gate, run: () => Promise<Result>): Promise<Result> =>
  currentGate.run(gate, run);

/** Found sooner than by default, after a second: an interleaving that deadlocks is one of many. */
const DEADLOCK_TIMEOUT = '20ms';

/** What stands between the statements of one message. */
const SEPARATOR = /;\n/;

type Query = (this: pg.Client, ...args: unknown[]) => Promise<pg.QueryResult>;

/*
 * The statements of pg and of Prisma both pass `query` of a client: Prisma's adapter takes any pool, and asks it for a
 * client. So a pool whose clients wait sees them all, without a proxy that understands PostgreSQL's protocol.
 */
class SteppedClient extends pg.Client {
  #pid: number | undefined;

  /** Supports the forms that return a promise. */
  override readonly query = (async (...args: unknown[]) => {
    const send = () => (super.query as Query).apply(this, args);
    const gate = currentGate.getStore();
    if (!gate) return send();
    this.#pid ??= await this.#readPid();
    const [statement] = args as [string | pg.QueryConfig];
    const text = typeof statement === 'string' ? statement : statement.text;
    const parts = text.split(SEPARATOR);
    return parts.length > 1 ? this.#sendEach(parts) : gate.pass({ text, pid: this.#pid }, send);
  }) as pg.Client['query'];

  /** Sends the statements of one message, which are a transaction, one after the other. */
  async #sendEach(statements: readonly string[]): Promise<pg.QueryResult[]> {
    const results: pg.QueryResult[] = [];
    await this.query('begin');
    try {
      for (const statement of statements) results.push(await this.query(statement));
      await this.query('commit');
    } catch (error) {
      await this.query('rollback');
      throw error;
    }
    return results;
  }

  async #readPid(): Promise<number> {
    const { rows } = await (super.query as Query).call(this, 'select pg_backend_pid() as pid');
    return (rows[0] as { pid: number }).pid;
  }
}

class SteppedPool extends pg.Pool {
  /** Sends the statement in the context of its caller, which is that of the actor. */
  override readonly query = (async (...args: [string]) => {
    const client = await this.connect();
    try {
      return await client.query(...args);
    } finally {
      client.release();
    }
  }) as pg.Pool['query'];
}

/** A transaction of an actor keeps one; what runs in the background takes others. */
const CONNECTIONS = 4;

/** Creates a pool whose statements wait for the turn of the actor that sends them. */
export function createSteppedPool(connectionString: string): pg.Pool {
  const pool = new SteppedPool({
    connectionString,
    max: CONNECTIONS,
    Client: SteppedClient,
    options: `-c deadlock_timeout=${DEADLOCK_TIMEOUT}`,
  });
  pool.on('error', () => undefined);
  return pool;
}

/** Whether nothing uses the pool's connection, or waits for it. */
export const isIdle = (pool: pg.Pool): boolean =>
  pool.idleCount === pool.totalCount && pool.waitingCount === 0;
