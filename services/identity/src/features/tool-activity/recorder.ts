import { randomBytes } from 'node:crypto';
import type { UserPrincipal } from '@platform/auth';
import type { Clock, Logger } from '@platform/service-kit';
import type pg from 'pg';
import { insertToolCalls, type ToolCallRow } from './queries.js';
import type { ToolCallOutcome } from './schemas.js';

/** Calls are gathered this long, or until there are so many, and written in one statement off the request path. */
const FLUSH_EVERY_MS = 2_000;
const BATCH_CALLS = 1_000;
/** In memory, 1 MB; past that calls wait for the writing. */
const MAX_BATCHES = 10;

/** One call of a remote tool. Never its arguments, never its result. */
export interface ToolCall {
  readonly principal: UserPrincipal;
  readonly tool: string;
  readonly outcome: ToolCallOutcome;
  readonly durationMs: number;
  readonly requestId: string;
  /** What the client says it is. */
  readonly client: string | undefined;
}

export interface ToolCallRecorder {
  /** @returns a promise where the memory is full: wait for it. It never fails. */
  record(call: ToolCall): Promise<unknown> | undefined;
  /** Writes what was gathered. What can't be written now is kept for the next time. */
  flush(): Promise<void>;
  start(): void;
  /** Stops the timer and writes the rest. */
  stop(): Promise<void>;
}

/** Calls that are written together. */
interface Batch {
  readonly calls: ToolCallRow[];
  /** The variant of RFC 9562, and 60 random bits. */
  readonly id: string;
}

const createBatch = (): Batch => ({ calls: [], id: `8${randomBytes(8).toString('hex').slice(1)}` });

const toRow = ({ principal, durationMs, requestId, client, ...call }: ToolCall, at: number): ToolCallRow => ({
  at,
  org_id: principal.orgId,
  user_id: principal.userId,
  credential_kind: principal.kind,
  credential_id: principal.credentialId,
  ...call,
  duration_ms: Math.round(durationMs),
  request_id: requestId,
  client: client ?? null,
});

/** A kill -9 loses what was gathered in the last two seconds. */
export function createToolCallRecorder(deps: {
  readonly pool: pg.Pool;
  readonly clock: Clock;
  readonly log: Pick<Logger, 'warn' | 'error'>;
}): ToolCallRecorder {
  let gathering = createBatch();
  /** Full ones, and those that couldn't be written, in the order of time. */
  const closed: Batch[] = [];
  let writing: Promise<boolean> | undefined;
  let timer: NodeJS.Timeout | undefined;

  /** While the database is away no credential is alive, so next to no call adds to these. */
  function close(): void {
    const calls = gathering.calls.length;
    if (calls === 0) return;
    if (closed.length < MAX_BATCHES) closed.push(gathering);
    else deps.log.error({ calls }, 'tool calls lost: they could not be written');
    gathering = createBatch();
  }

  async function writeAll(): Promise<boolean> {
    for (let batch = closed[0]; batch; batch = closed[0]) {
      try {
        await insertToolCalls(deps.pool, batch.calls, batch.id);
        closed.shift();
      } catch (error) {
        deps.log.warn({ err: error, batches: closed.length }, 'tool calls not written yet');
        return false;
      }
    }
    return true;
  }

  const writeClosed = (): Promise<boolean> =>
    (writing ??= writeAll().finally(() => {
      writing = undefined;
    }));

  /** What is gathered joins a batch that can't be written only when it is one itself. */
  async function flush(): Promise<void> {
    if (!(await writeClosed())) return;
    close();
    await writeClosed();
  }

  return {
    record(call) {
      gathering.calls.push(toRow(call, deps.clock()));
      if (gathering.calls.length >= BATCH_CALLS) close();
      else if (closed.length < MAX_BATCHES) return undefined;
      const written = writeClosed();
      return closed.length < MAX_BATCHES ? undefined : written;
    },
    flush,
    start() {
      timer = setInterval(() => void flush(), FLUSH_EVERY_MS).unref();
    },
    async stop() {
      clearInterval(timer);
      await writing;
      await flush();
      // There is no next time: a connection that broke in between is tried once more.
      if (closed.length > 0) await flush();
    },
  };
}
