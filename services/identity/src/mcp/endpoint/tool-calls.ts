import type { Logger } from '@platform/service-kit';
import { canCall, describeMissingAuthority } from './authority.js';
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
  readonly catalogue: Pick<CallerCatalogue, 'find' | 'getView'>;
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
}

const denied = (text: string): CallOutcome => ({ result: toolError(text), outcome: 'denied' });

async function callEntry(
  entry: ToolEntry,
  caller: Caller,
  args: Record<string, unknown>,
  describeFailure: DescribeFailure,
) {
  const { context, view } = caller;
  const { name } = entry.tool;
  if (!view.names.has(name)) return denied(describeRefusal(entry, context));
  const faults = entry.check(args);
  if (faults.length > 0) {
    const described = faults.map(({ field, message }) => `${field} ${message}`).join('; ');
    return { result: toolError(`Invalid arguments: ${described}`), outcome: 'invalid_arguments' } as const;
  }
  try {
    const result = await entry.call(args, context);
    return { result, outcome: isPassedError(result) ? 'refused' : 'completed' } as const;
  } catch (thrown) {
    const { text, outcome } = describeFailure(thrown, entry.tool, context);
    const link = thrown instanceof LinkRequired ? thrown : undefined;
    return { result: toolError(text, link), outcome };
  }
}

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
      const { result, outcome } = await callEntry(entry, caller, args, describeFailure);
      const { principal, requestId, client } = caller.context;
      const durationMs = performance.now() - startedAt;
      recordCall({ principal, tool, outcome, durationMs, requestId, client });
      return result;
    });
  };
}
