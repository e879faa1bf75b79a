import type { AccountPrincipal } from '@platform/auth';
import { type Clock, createBatchWriter, type Logger } from '@platform/service-kit';
import type pg from 'pg';
import { createAuditId } from '../../audit/queries.js';
import { insertToolCalls, type ToolCallRow } from './queries.js';
import type { ToolCallOutcome } from './schemas.js';

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

const toRow = ({ principal, durationMs, requestId, client, ...call }: ToolCall, at: number): ToolCallRow => ({
  id: createAuditId(new Date(at)),
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
  readonly log: Pick<Logger, 'warn'>;
}) {
  const writer = createBatchWriter<ToolCallRow>({
    what: 'tool calls',
    write: (calls) => insertToolCalls(deps.pool, calls),
    everyMs: 2_000,
    maxBatch: 1_000,
    // Some thirty megabytes: more calls than a process answers until they are written.
    maxHeld: 100_000,
    log: deps.log,
  });
  return {
    record: (call: ToolCall): void => writer.add(toRow(call, deps.clock())),
    flush: writer.flush,
    start: writer.start,
    stop: writer.stop,
  };
}

export type ToolCallRecorder = ReturnType<typeof createToolCallRecorder>;
