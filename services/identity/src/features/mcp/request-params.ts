import { ProtocolErrorCode, specTypeSchemas } from '@modelcontextprotocol/server';
import type { Era } from './catalogue.js';

/*
 * The SDK answers -32603, an internal error, to parameters of these that it can't read, and shows its validator's own
 * list. They are the client's fault: -32602 (JSON-RPC 2.0 §5.1), which names the first.
 */
type Schema = (typeof specTypeSchemas)['InitializeRequest' | 'ListToolsRequest'];
const schemas: Readonly<Record<Era, ReadonlyMap<unknown, Schema>>> = {
  legacy: new Map<unknown, Schema>([
    ['initialize', specTypeSchemas.InitializeRequest],
    ['tools/list', specTypeSchemas.ListToolsRequest],
  ]),
  modern: new Map([['tools/list', specTypeSchemas.ListToolsRequest]]),
};

const isId = (id: unknown): boolean => typeof id === 'string' || Number.isSafeInteger(id);

/** @returns the answer to a request whose parameters are wrong; undefined for what the SDK has to look at. */
export function refuseParams(message: unknown, era: Era): Response | undefined {
  const { jsonrpc, id, method, params } = message as Readonly<Record<string, unknown>>;
  const schema = schemas[era].get(method);
  // Of another form it is no request at all: the SDK says so.
  if (!schema || jsonrpc !== '2.0' || !isId(id) || (params !== undefined && typeof params !== 'object'))
    return undefined;
  const result = schema['~standard'].validate({ method, params });
  if (!('issues' in result) || !result.issues?.[0]) return undefined;
  const { path = [], message: fault } = result.issues[0];
  const field = path.map((part) => String(typeof part === 'object' ? part.key : part)).join('.');
  return Response.json({
    jsonrpc: '2.0',
    id,
    error: {
      code: ProtocolErrorCode.InvalidParams,
      message: `Invalid ${String(method)} request: ${field}: ${fault}`,
    },
  });
}
