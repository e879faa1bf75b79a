import { ServiceFault } from '@platform/clients';
import { AppError, type Logger, translateError } from '@platform/service-kit';
import { type CallToolResult, ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server';
import { canCall, describeNeeds } from './authority.js';
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

/** A fault of the REST endpoint in its own words; what broke inside is logged, not told. */
function describeFailure(thrown: unknown, name: string, log: Logger): string {
  const fault = thrown instanceof ServiceFault ? thrown : translateError(thrown);
  const isBroken = fault instanceof ServiceFault ? fault.kind !== 'refused' : fault.statusCode >= 500;
  if (isBroken) log.error({ err: fault.cause ?? fault, tool: name }, 'tool failed');
  const details = fault instanceof AppError ? detailsOf(fault) : fault.details;
  return details ? `${fault.message}: ${details}` : fault.message;
}

export function createToolCalls(catalogue: Catalogue, log: Logger): CallTool {
  return async ({ view, context }, name, args) => {
    const entry = catalogue.find(name);
    if (!entry)
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, `Unknown tool: ${name.slice(0, 64)}`);
    if (!view.names.has(name)) return toolError(describeRefusal(entry, context));
    const faults = entry.check(args);
    if (faults.length > 0)
      return toolError(
        `Invalid arguments: ${faults.map(({ field, message }) => `${field} ${message}`).join('; ')}`,
      );
    try {
      return toolResult(await entry.tool.call(args, context));
    } catch (thrown) {
      return toolError(describeFailure(thrown, name, log));
    }
  };
}
