import type { AccountPrincipal, RefusalReason, RefusedRequest } from '@platform/auth';
import { type Clock, createBatchWriter, type Logger } from '@platform/service-kit';
import type pg from 'pg';
import { createAuditId } from '../../audit/record.sql.js';
import { insertToolCalls, type ToolCallRow } from './activity.sql.js';
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
  readonly address: string | undefined;
  /** Why it was refused. */
  readonly reason?: RefusalReason | undefined;
  /** The scopes that the credential would have needed beside its own. */
  readonly lacks?: readonly string[];
}

const toRow = (
  { principal, durationMs, requestId, client, address, reason, lacks, ...call }: ToolCall,
  at: number,
): ToolCallRow => ({
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
  via: 'mcp',
  reason: reason ?? null,
  lacks: lacks ?? [],
  address: address ?? null,
});

/** What is refused before a tool is looked for concerns the whole endpoint. */
const isOfEndpoint = (operation: string): boolean => /^[A-Z]+ \/mcp\/?$/.test(operation);

const toRefusedRow = ({
  operation,
  orgId,
  userId,
  credentialKind,
  credentialId,
  clientId,
  durationMs,
  requestId,
  ...refusal
}: RefusedRequest): ToolCallRow => ({
  ...refusal,
  org_id: orgId,
  user_id: userId,
  credential_kind: credentialKind,
  credential_id: credentialId,
  client_id: clientId,
  tool: operation,
  outcome: 'denied',
  duration_ms: durationMs,
  request_id: requestId,
  via: isOfEndpoint(operation) ? 'mcp' : 'rest',
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
    /** Records a refused request. A tool that a client lacks scopes for is recorded as a call of it. */
    recordRefusal(refusal: RefusedRequest): void {
      if (refusal.reason !== 'scope' || !isOfEndpoint(refusal.operation)) writer.add(toRefusedRow(refusal));
    },
    flush: writer.flush,
    start: writer.start,
    stop: writer.stop,
  };
}

export type ToolCallRecorder = ReturnType<typeof createToolCallRecorder>;
