import type { RefusalReason } from '@platform/auth';
import type { Logger } from '@platform/service-kit';
import { canCall, describeMissingAuthority, findMissingScopes } from './authority.js';
import type { ToolCallRecorder } from '../activity/recorder.js';
import type { ToolCallOutcome } from '../activity/schemas.js';
import type { CallerCatalogue, ToolEntry, ToolView } from './catalogue.js';
import { createFailures, type DescribeFailure } from './failures.js';
import { LinkRequired } from './link-required.js';
import { isPassedError, toolError, type ToolResult } from './tool-result.js';
import type { ObserveCall } from './telemetry.js';
import type { ToolContext } from './tool.js';

/** The context of a caller, and the tools that it can find and see. */
export interface Caller {
  readonly catalogue: Pick<CallerCatalogue, 'find' | 'isOutOfBounds' | 'getView'>;
  readonly view: ToolView;
  readonly context: ToolContext;
}

/** Calls a tool and records the call. Failures are returned as results too, because the model has to read them. */
export type CallTool = (
  caller: Caller,
  entry: ToolEntry,
  args: Record<string, unknown>,
) => Promise<ToolResult>;

function describeRefusal({ tool }: ToolEntry, { principal }: ToolContext): string {
  return canCall(principal, tool)
    ? `This connection is narrowed to other tools: ${tool.name} is left out by X-MCP-Readonly, readonly or X-MCP-Tools.`
    : describeMissingAuthority(principal, tool);
}

/** The result of a call for the caller, and its outcome for the record. */
interface CallOutcome {
  readonly result: ToolResult;
  readonly outcome: ToolCallOutcome;
  readonly reason?: RefusalReason | undefined;
  readonly lacks?: readonly string[];
}

/** Returns why a tool is not in the view of its caller, and which scopes would mend it. */
function explainRefusal(
  { tool }: Pick<ToolEntry, 'tool'>,
  { principal }: Pick<ToolContext, 'principal'>,
): Required<Pick<CallOutcome, 'reason' | 'lacks'>> {
  if (canCall(principal, tool)) return { reason: 'filter', lacks: [] };
  if (tool.isTokenOnly && principal.kind === 'session') return { reason: 'token', lacks: [] };
  const lacks = findMissingScopes(principal, tool);
  return { reason: lacks.length > 0 ? 'scope' : 'role', lacks };
}

async function callEntry(
  entry: ToolEntry,
  caller: Caller,
  args: Record<string, unknown>,
  describeFailure: DescribeFailure,
): Promise<CallOutcome> {
  const { context, view } = caller;
  const { name } = entry.tool;
  if (!view.names.has(name))
    return {
      result: toolError(describeRefusal(entry, context)),
      outcome: 'denied',
      ...explainRefusal(entry, context),
    };
  const faults = entry.check(args);
  if (faults.length > 0) {
    const described = faults.map(({ field, message }) => `${field} ${message}`).join('; ');
    return { result: toolError(`Invalid arguments: ${described}`), outcome: 'invalid_arguments' } as const;
  }
  try {
    const result = await entry.call(args, context);
    return { result, outcome: isPassedError(result) ? 'refused' : 'completed' } as const;
  } catch (thrown) {
    const { text, outcome, reason } = describeFailure(thrown, entry.tool, context);
    const link = thrown instanceof LinkRequired ? thrown : undefined;
    return { result: toolError(text, link), outcome, reason: link ? 'sign_in' : reason };
  }
}

const toRecord = ({ principal, requestId, client, address: { address } }: ToolContext) => ({
  principal,
  requestId,
  client,
  address,
});

const MAX_NAME_LENGTH = 128;
/** Control characters, of which PostgreSQL's text type cannot store NUL. */
const unprintable = /\p{Cc}+/gu;

/** Creates the record of calls that reach no tool. */
export function createRefusedCalls(recordCall: ToolCallRecorder['record']) {
  const record = (
    context: ToolContext,
    name: string,
    why: Required<Pick<CallOutcome, 'reason' | 'lacks'>>,
  ): void => {
    const tool = name.slice(0, MAX_NAME_LENGTH).toWellFormed().replaceAll(unprintable, ' ');
    recordCall({ ...toRecord(context), ...why, tool, outcome: 'denied', durationMs: 0 });
  };
  return {
    /** Records the call of a tool that there is not, or that the credential does not reach: to its caller they are the same. */
    recordUnknown: ({ catalogue, context }: Pick<Caller, 'catalogue' | 'context'>, name: string): void =>
      record(context, name, { reason: catalogue.isOutOfBounds(name) ? 'bounds' : 'unknown_tool', lacks: [] }),
    /** Records that a client was challenged to ask for more scopes. */
    recordChallenge: (context: ToolContext, name: string, lacks: readonly string[]): void =>
      record(context, name, { reason: 'scope', lacks }),
  };
}
export type RefusedCalls = ReturnType<typeof createRefusedCalls>;

export function createToolCalls({
  log,
  recordCall,
  observeCall,
}: {
  readonly log: Logger;
  readonly observeCall: ObserveCall;
  readonly recordCall: ToolCallRecorder['record'];
}): CallTool {
  const describeFailure = createFailures(log);
  return (caller, entry, args) => {
    const { name: tool } = entry.tool;
    return observeCall(tool, caller.context, async () => {
      const startedAt = performance.now();
      const { result, ...outcome } = await callEntry(entry, caller, args, describeFailure);
      const durationMs = performance.now() - startedAt;
      recordCall({ ...outcome, ...toRecord(caller.context), tool, durationMs });
      return result;
    });
  };
}
