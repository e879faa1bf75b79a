import { ServiceFault } from '@platform/clients';
import { AppError, type Logger, translateError } from '@platform/service-kit';
import { type CallToolResult, ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server';
import { canCall, describeNeeds } from './authority.js';
import type { ToolCallRecorder } from '../tool-activity/recorder.js';
import type { ToolCallOutcome } from '../tool-activity/schemas.js';
import type { Catalogue, ToolEntry, ToolView } from './catalogue.js';
import type { ToolContext } from './tool.js';

/** Who calls, and what they can see. */
export interface Caller {
  readonly view: ToolView;
  readonly context: ToolContext;
}

/**
 * Every call of a tool begins and ends here.
 *
 * @throws ProtocolError for a tool that nobody has. All else is a result, for the model to read.
 */
export type CallTool = (
  caller: Caller,
  name: string,
  args: Record<string, unknown>,
) => Promise<CallToolResult>;

const toolError = (text: string): CallToolResult => ({ content: [{ type: 'text', text }], isError: true });

const toolResult = (result: Record<string, unknown>): CallToolResult => ({
  content: [{ type: 'text', text: JSON.stringify(result) }],
  structuredContent: result,
});

function describeRefusal({ tool }: ToolEntry, { principal }: ToolContext): string {
  return canCall(principal, tool)
    ? `This connection is narrowed to other tools: ${tool.name} is left out by X-MCP-Readonly, readonly or X-MCP-Tools.`
    : describeNeeds(principal, tool);
}

const detailsOf = ({ details }: AppError): string | undefined =>
  details?.map(({ field, message }) => `${field} ${message}`).join('; ');

/** What came of a call: for the caller, and for the record. */
interface Ending {
  readonly result: CallToolResult;
  readonly outcome: ToolCallOutcome;
}

const denied = (text: string): Ending => ({ result: toolError(text), outcome: 'denied' });

/** A fault of the REST endpoint in its own words; what broke inside is logged, not told. */
function endingOf(thrown: unknown, tool: string, { requestId, signal }: ToolContext, log: Logger): Ending {
  const fault = thrown instanceof ServiceFault ? thrown : translateError(thrown);
  const details = fault instanceof AppError ? detailsOf(fault) : fault.details;
  const result = toolError(details ? `${fault.message}: ${details}` : fault.message);
  if (signal.aborted) return { result, outcome: 'cancelled' };
  const isBroken = fault instanceof ServiceFault ? fault.kind !== 'refused' : fault.statusCode >= 500;
  if (!isBroken) return { result, outcome: 'refused' };
  log.error({ err: fault.cause ?? fault, tool, requestId }, 'tool failed');
  return { result, outcome: 'failed' };
}

async function callEntry(entry: ToolEntry, caller: Caller, args: Record<string, unknown>, log: Logger) {
  const { context, view } = caller;
  const { name } = entry.tool;
  if (!view.names.has(name)) return denied(describeRefusal(entry, context));
  const faults = entry.check(args);
  if (faults.length > 0) {
    const described = faults.map(({ field, message }) => `${field} ${message}`).join('; ');
    return { result: toolError(`Invalid arguments: ${described}`), outcome: 'invalid_arguments' } as const;
  }
  try {
    return { result: toolResult(await entry.tool.call(args, context)), outcome: 'completed' } as const;
  } catch (thrown) {
    return endingOf(thrown, name, context, log);
  }
}

export function createToolCalls(
  catalogue: Catalogue,
  log: Logger,
  recordCall: ToolCallRecorder['record'],
): CallTool {
  return async (caller, name, args) => {
    const entry = catalogue.find(name);
    if (!entry)
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, `Unknown tool: ${name.slice(0, 64)}`);
    const startedAt = performance.now();
    const { result, outcome } = await callEntry(entry, caller, args, log);
    const { principal, requestId, client } = caller.context;
    const durationMs = performance.now() - startedAt;
    const written = recordCall({ principal, tool: name, outcome, durationMs, requestId, client });
    if (written) await written;
    return result;
  };
}
