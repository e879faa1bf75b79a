import type { UserPrincipal } from '@platform/auth';
import type { Clock, Logger } from '@platform/service-kit';
import type pg from 'pg';
import { v7 as uuidv7 } from 'uuid';
import { insertToolCalls, type ToolCallRow } from './queries.js';
import type { ToolCallOutcome } from './schemas.js';

/** Calls are gathered this long, or until there are so many, and written off the request path. */
const FLUSH_EVERY_MS = 2_000;
const FLUSH_AT = 1_000;
/** Calls in one statement. */
const FLUSH_MAX = 1_000;
/** Calls in memory, about 4 MB; past that the next ones wait for the writing. */
const GATHERED_MAX = 10_000;

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
  record(call: ToolCall): Promise<void> | undefined;
  /** Writes what was gathered. What can't be written now is kept for the next time. */
  flush(): Promise<void>;
  start(): void;
  /** Stops the timer and writes the rest. */
  stop(): Promise<void>;
}

function toRow(
  { principal, tool, outcome, durationMs, requestId, client }: ToolCall,
  at: number,
): ToolCallRow {
  return {
    id: uuidv7({ msecs: at }),
    org_id: principal.orgId,
    user_id: principal.userId,
    credential_kind: principal.kind,
    credential_id: principal.credentialId,
    tool,
    outcome,
    duration_ms: Math.round(durationMs),
    request_id: requestId,
    client: client ?? null,
    created_at: new Date(at),
  };
}

/** A kill -9 loses what was gathered in the last two seconds. */
export function createToolCallRecorder(deps: {
  readonly pool: pg.Pool;
  readonly clock: Clock;
  readonly log: Pick<Logger, 'warn' | 'error'>;
}): ToolCallRecorder {
  let gathered: ToolCallRow[] = [];
  let flushing: Promise<void> | undefined;
  let timer: NodeJS.Timeout | undefined;

  /** While the database is away no credential is alive, so no call adds to these. */
  function keep(unwritten: ToolCallRow[]): void {
    const all = [...unwritten, ...gathered];
    gathered = all.slice(0, GATHERED_MAX);
    if (all.length > GATHERED_MAX)
      deps.log.error({ calls: all.length - GATHERED_MAX }, 'tool calls lost: they could not be written');
  }

  async function write(): Promise<void> {
    while (gathered.length > 0) {
      const batch = gathered.slice(0, FLUSH_MAX);
      gathered = gathered.slice(FLUSH_MAX);
      try {
        await insertToolCalls(deps.pool, batch);
      } catch (error) {
        deps.log.warn({ err: error, calls: batch.length + gathered.length }, 'tool calls not written yet');
        keep(batch);
        return;
      }
    }
  }

  const flush = (): Promise<void> =>
    (flushing ??= write().finally(() => {
      flushing = undefined;
    }));

  return {
    record(call) {
      gathered.push(toRow(call, deps.clock()));
      if (gathered.length < FLUSH_AT) return undefined;
      const written = flush();
      return gathered.length < GATHERED_MAX ? undefined : written;
    },
    flush,
    start() {
      timer = setInterval(() => {
        if (gathered.length > 0) void flush();
      }, FLUSH_EVERY_MS).unref();
    },
    async stop() {
      clearInterval(timer);
      await flush();
      if (gathered.length > 0) await flush();
    },
  };
}
