import { randomBytes } from 'node:crypto';
import type { AccountPrincipal } from '@platform/auth';
import { type Clock, createPeriodicTask, type Logger } from '@platform/service-kit';
import type pg from 'pg';
import { insertToolCalls, type ToolCallRow } from './queries.js';
import type { ToolCallOutcome } from './schemas.js';

/** A batch is closed after this time or number of calls, and written in one statement, off the request path. */
const FLUSH_EVERY_MS = 2_000;
const BATCH_CALLS = 1_000;
/** The number of closed batches kept in memory, about 1 MB; beyond that, calls wait until they are written. */
const MAX_BATCHES = 10;

/** The record of a tool call. It never contains arguments or results. */
export interface ToolCall {
  readonly principal: AccountPrincipal;
  readonly tool: string;
  readonly outcome: ToolCallOutcome;
  readonly durationMs: number;
  readonly requestId: string;
  /** The name that the client gives itself. */
  readonly client: string | undefined;
}

/** Calls that are written in one statement. */
interface Batch {
  readonly calls: ToolCallRow[];
  /** The variant bits of RFC 9562 and 60 random bits. */
  readonly id: string;
}

const createBatch = (): Batch => ({ calls: [], id: `8${randomBytes(8).toString('hex').slice(1)}` });

const toRow = ({ principal, durationMs, requestId, client, ...call }: ToolCall, at: number): ToolCallRow => ({
  at,
  org_id: principal.orgId,
  user_id: principal.userId,
  credential_kind: principal.kind,
  credential_id: principal.credentialId,
  client_id: principal.clientId ?? null,
  ...call,
  duration_ms: Math.round(durationMs),
  request_id: requestId,
  client: client ?? null,
});

/** Creates the recorder. A kill -9 loses the calls of the last two seconds. */
export function createToolCallRecorder(deps: {
  readonly pool: pg.Pool;
  readonly clock: Clock;
  readonly log: Pick<Logger, 'warn' | 'error'>;
}) {
  let gathering = createBatch();
  /** Closed batches that haven't been written yet, oldest first. */
  const closed: Batch[] = [];
  let writing: Promise<boolean> | undefined;

  /** Closes the current batch. It hardly ever has to be dropped: without the database, calls aren't authenticated. */
  function close(): void {
    const calls = gathering.calls.length;
    if (calls === 0) return;
    if (closed.length < MAX_BATCHES) closed.push(gathering);
    else deps.log.error({ calls }, 'dropped tool calls that could not be written');
    gathering = createBatch();
  }

  async function writeAll(): Promise<boolean> {
    for (let batch = closed[0]; batch; batch = closed[0]) {
      try {
        await insertToolCalls(deps.pool, batch.calls, batch.id);
        closed.shift();
      } catch (error) {
        deps.log.warn({ err: error, batches: closed.length }, 'failed to write tool calls; retrying');
        return false;
      }
    }
    return true;
  }

  const writeClosed = (): Promise<boolean> =>
    (writing ??= writeAll().finally(() => {
      writing = undefined;
    }));

  /** Closes the current batch only after the earlier ones are written, so that an outage doesn't close many small ones. */
  async function flush(): Promise<void> {
    if (!(await writeClosed())) return;
    close();
    await writeClosed();
  }

  const flushing = createPeriodicTask({
    intervalMs: FLUSH_EVERY_MS,
    run: flush,
    onError: (error) => {
      deps.log.warn({ err: error }, 'failed to write tool calls; retrying');
    },
  });

  return {
    /** @returns a promise to wait for when the memory is full; it never rejects. */
    record(call: ToolCall): Promise<unknown> | undefined {
      gathering.calls.push(toRow(call, deps.clock()));
      if (gathering.calls.length >= BATCH_CALLS) close();
      else if (closed.length < MAX_BATCHES) return undefined;
      const written = writeClosed();
      return closed.length < MAX_BATCHES ? undefined : written;
    },

    /** Writes the collected calls. Those that can't be written are kept for the next flush. */
    flush,
    start: flushing.start,

    /** Stops the timer and flushes. */
    async stop(): Promise<void> {
      await flushing.stop();
      await flush();
      // This is the last chance, so retry once in case the connection broke.
      if (closed.length > 0) await flush();
    },
  };
}

export type ToolCallRecorder = ReturnType<typeof createToolCallRecorder>;
