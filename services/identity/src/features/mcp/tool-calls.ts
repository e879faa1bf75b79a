import type { Logger } from '@platform/service-kit';
import { type CallToolResult, ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server';
import { canCall, describeNeeds } from './authority.js';
import type { Catalogue, ToolEntry, ToolView } from './catalogue.js';
import { createFailures } from './failures.js';
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

/** Longer, an error would fill the model's context: what matters comes first. */
const ERROR_LENGTH_MAX = 2_000;

const toolError = (text: string): CallToolResult => ({
  content: [{ type: 'text', text: text.slice(0, ERROR_LENGTH_MAX) }],
  isError: true,
});

const toolResult = (result: Record<string, unknown>): CallToolResult => ({
  content: [{ type: 'text', text: JSON.stringify(result) }],
  structuredContent: result,
});

function describeRefusal({ tool }: ToolEntry, { principal }: ToolContext): string {
  return canCall(principal, tool)
    ? `This connection is narrowed to other tools: ${tool.name} is left out by X-MCP-Readonly, readonly or X-MCP-Tools.`
    : describeNeeds(principal, tool);
}

export function createToolCalls(catalogue: Catalogue, log: Logger): CallTool {
  const describeFailure = createFailures(log);
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
      return toolError(describeFailure(thrown, name, context).text);
    }
  };
}
