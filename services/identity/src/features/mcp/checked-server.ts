import { ProtocolError, ProtocolErrorCode, Server, specTypeSchemas } from '@modelcontextprotocol/server';

type Schema = (typeof specTypeSchemas)['InitializeRequest' | 'ListToolsRequest' | 'CallToolRequest'];
// oxlint-disable-next-line typescript/no-deprecated -- for common use only
type Wrap = Server['_wrapHandler'];

const schemas: ReadonlyMap<string, Schema> = new Map<string, Schema>([
  ['initialize', specTypeSchemas.InitializeRequest],
  ['tools/list', specTypeSchemas.ListToolsRequest],
  ['tools/call', specTypeSchemas.CallToolRequest],
]);

/** @throws ProtocolError that names the first fault of the parameters. */
function assertParams(method: string, request: unknown): void {
  const result = schemas.get(method)?.['~standard'].validate(request);
  if (!result || !('issues' in result) || !result.issues?.[0]) return;
  const { path = [], message } = result.issues[0];
  const field = path.map((part) => String(typeof part === 'object' ? part.key : part)).join('.');
  throw new ProtocolError(ProtocolErrorCode.InvalidParams, `Invalid ${method} request: ${field}: ${message}`);
}

/**
 * For invalid parameters, the SDK responds with -32603, an internal error, or with its validator's raw output. They are
 * the client's fault, so this class responds with -32602 (JSON-RPC 2.0 §5.1). Headers are checked before.
 *
 * The low-level class is deprecated for common use only; McpServer would convert every schema on every call.
 */
// oxlint-disable-next-line typescript/no-deprecated
export class CheckedServer extends Server {
  protected override _wrapHandler(...[method, handler]: Parameters<Wrap>): ReturnType<Wrap> {
    // oxlint-disable-next-line typescript/no-deprecated
    const wrapped = super._wrapHandler(method, handler);
    return async (request, context) => {
      assertParams(method, request);
      return wrapped(request, context);
    };
  }
}
