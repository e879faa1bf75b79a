export type Json = Readonly<Record<string, unknown>>;

/** A request of JSON-RPC 2.0. */
export interface RpcRequest {
  readonly id: string | number;
  readonly method: string;
  readonly params: Json;
}

/** The error codes of JSON-RPC 2.0 (§5.1) and of MCP that this endpoint responds with. */
export const RpcCode = {
  invalidRequest: -32_600,
  methodNotFound: -32_601,
  invalidParams: -32_602,
  internalError: -32_603,
  /** Any error without a specific code, such as an unknown version of an earlier revision. */
  serverError: -32_000,
  headerMismatch: -32_020,
  unsupportedVersion: -32_022,
} as const;

/** An error of the protocol, as distinct from an error of a tool, which the model reads as a result. */
export class RpcFault extends Error {
  override readonly name = 'RpcFault';
  readonly code: number;
  /** The HTTP status. It is 200 where the transport worked and only the method failed. */
  readonly status: number;
  readonly data: object | undefined;

  constructor(
    code: number,
    message: string,
    { status = 200, data }: { status?: number; data?: object } = {},
  ) {
    super(message);
    this.code = code;
    this.status = status;
    this.data = data;
  }
}

export const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const isId = (id: unknown): id is string | number => typeof id === 'string' || Number.isSafeInteger(id);

const invalid = (message: string): RpcFault =>
  new RpcFault(RpcCode.invalidRequest, `Invalid JSON-RPC message: ${message}`, { status: 400 });

/**
 * Reads a message of JSON-RPC 2.0.
 *
 * @returns undefined for a notification or a response, which gets no response.
 * @throws RpcFault -32600 for anything else.
 */
export function parseMessage(message: Json): RpcRequest | undefined {
  const { jsonrpc, id, method } = message;
  const params = message['params'] ?? {};
  if (jsonrpc !== '2.0') throw invalid('jsonrpc must be "2.0"');
  if (method === undefined && (isObject(message['result']) || isObject(message['error']))) return undefined;
  if (typeof method !== 'string') throw invalid('method must be a string');
  if (!isObject(params)) throw invalid('params must be an object');
  if (id === undefined) return undefined;
  if (!isId(id)) throw invalid('id must be a string or an integer');
  return { id, method, params };
}

const RESULT = '{"result":';

/** @param result - as JSON; in UTF-8 it is not decoded. */
export function toResponse(id: string | number, result: string | Buffer): string | Buffer {
  const end = `,"jsonrpc":"2.0","id":${JSON.stringify(id)}}`;
  if (typeof result === 'string') return RESULT + result + end;
  return Buffer.concat([Buffer.from(RESULT), result, Buffer.from(end)]);
}

/** @param id - null when the request has no valid one. */
export const toErrorResponse = (id: string | number | null, { code, message, data }: RpcFault): string =>
  JSON.stringify({ jsonrpc: '2.0', id, error: { code, message, ...(data && { data }) } });
