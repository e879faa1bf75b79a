import { withOperationSpan } from '@platform/service-kit';
import { Histogram, type Registry } from 'prom-client';
import { isErrorResult, type ToolResult } from './tool-result.js';
import type { ToolContext } from './tool.js';

/*
 * Spans and metrics of tool calls, named by the OpenTelemetry conventions for MCP servers
 * (https://github.com/open-telemetry/semantic-conventions-genai/blob/main/docs/gen-ai/mcp.md).
 */

const METHOD = 'tools/call';
const OPERATION = 'execute_tool';
/** The value of `error.type` for a result with `isError`. */
const TOOL_ERROR = 'tool_error';
/** In seconds: the boundaries that the conventions advise. */
const BUCKETS = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120, 300];

/** Runs a call of a tool as an observed operation. */
export type ObserveCall = (
  tool: string,
  context: Pick<ToolContext, 'protocolVersion'>,
  call: () => Promise<ToolResult>,
) => Promise<ToolResult>;

/**
 * @param ownTools - the names of the platform's tools. Those of mounted servers are in spans alone: an organisation can have
 *   thousands, and each would be a series.
 */
export function createObserveCall(registry: Registry, ownTools: ReadonlySet<string>): ObserveCall {
  const durations = new Histogram({
    // `mcp.server.operation.duration`, in the form that OpenTelemetry prescribes for Prometheus.
    name: 'mcp_server_operation_duration_seconds',
    help: 'Duration of the calls of remote tools (mcp.server.operation.duration).',
    labelNames: [
      'mcp_method_name',
      'gen_ai_operation_name',
      'gen_ai_tool_name',
      'error_type',
      'network_transport',
    ],
    buckets: BUCKETS,
    registers: [registry],
  });
  return (tool, { protocolVersion }, call) => {
    const attributes = {
      'mcp.method.name': METHOD,
      'gen_ai.operation.name': OPERATION,
      'gen_ai.tool.name': tool,
      'network.protocol.name': 'http',
      'network.transport': 'tcp',
      ...(protocolVersion !== undefined && { 'mcp.protocol.version': protocolVersion }),
    };
    const end = durations.startTimer({
      mcp_method_name: METHOD,
      gen_ai_operation_name: OPERATION,
      gen_ai_tool_name: ownTools.has(tool) ? tool : '',
      network_transport: 'tcp',
    });
    return withOperationSpan({ name: `${METHOD} ${tool}`, attributes }, async (fail) => {
      const result = await call();
      const isError = isErrorResult(result);
      if (isError) fail(TOOL_ERROR);
      end({ error_type: isError ? TOOL_ERROR : '' });
      return result;
    });
  };
}
