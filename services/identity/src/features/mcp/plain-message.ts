import {
  CLIENT_CAPABILITIES_META_KEY,
  CLIENT_INFO_META_KEY,
  PROTOCOL_VERSION_META_KEY,
  SUPPORTED_PROTOCOL_VERSIONS,
} from '@modelcontextprotocol/server';
import type { ResponseForm } from './response-form.js';
import type { ProtocolEra } from './catalogue.js';

/*
 * Recognises the two requests that make up nearly all traffic, `tools/list` and `tools/call`, in the form that clients
 * usually send. These are answered directly. Every other message, of either era, is left to the SDK, which knows the
 * protocol's edge cases: nothing is rejected here.
 */

interface PlainRequest {
  readonly id: string | number;
  readonly era: ProtocolEra;
}
export interface PlainCall extends PlainRequest {
  readonly method: 'tools/call';
  readonly name: string;
  readonly args: Record<string, unknown>;
}
export type PlainMessage = (PlainRequest & { readonly method: 'tools/list' }) | PlainCall;

type Headers = Readonly<Record<string, string | readonly string[] | undefined>>;
type Json = Readonly<Record<string, unknown>>;

const MODERN_VERSION = '2026-07-28';
const legacyVersions: ReadonlySet<unknown> = new Set([undefined, ...SUPPORTED_PROTOCOL_VERSIONS]);
const messageKeys: ReadonlySet<string> = new Set(['jsonrpc', 'id', 'method', 'params']);
const listKeys: ReadonlySet<string> = new Set(['_meta']);
const callKeys: ReadonlySet<string> = new Set(['_meta', 'name', 'arguments']);

const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function hasOnly(value: Json, keys: ReadonlySet<string>): boolean {
  for (const key in value) if (!keys.has(key)) return false;
  return true;
}

const isId = (id: unknown): id is string | number => typeof id === 'string' || Number.isSafeInteger(id);

/** Checks the metadata that a request of the stateless revision carries in its body and repeats in headers. */
function isModernEnvelope(meta: Json, method: string, name: string | undefined, headers: Headers): boolean {
  const info = meta[CLIENT_INFO_META_KEY];
  return (
    meta[PROTOCOL_VERSION_META_KEY] === MODERN_VERSION &&
    isObject(meta[CLIENT_CAPABILITIES_META_KEY]) &&
    (info === undefined ||
      (isObject(info) && typeof info['name'] === 'string' && typeof info['version'] === 'string')) &&
    headers['mcp-method'] === method &&
    headers['mcp-name'] === name
  );
}

function getEra(
  meta: unknown,
  method: string,
  name: string | undefined,
  headers: Headers,
): ProtocolEra | undefined {
  const version = headers['mcp-protocol-version'];
  if (meta !== undefined && !isObject(meta)) return undefined;
  if (version === MODERN_VERSION)
    return meta && isModernEnvelope(meta, method, name, headers) ? 'modern' : undefined;
  if (!legacyVersions.has(version)) return undefined;
  // Other metadata may name another era or request more than a response.
  for (const key in meta) if (key !== 'traceparent' && key !== 'tracestate') return undefined;
  return 'legacy';
}

/** @returns undefined for a message that the SDK has to handle. */
export function readPlainMessage(
  message: unknown,
  headers: Headers,
  form: ResponseForm,
): PlainMessage | undefined {
  if (form === 'stream' || !isObject(message) || !hasOnly(message, messageKeys)) return undefined;
  const { jsonrpc, id, method, params = {} } = message;
  if (jsonrpc !== '2.0' || !isId(id) || !isObject(params)) return undefined;
  const meta = params['_meta'];
  // A progress token requests progress notifications, which need a stream.
  if (isObject(meta) && meta['progressToken'] !== undefined) return undefined;
  if (method === 'tools/list') {
    const era = hasOnly(params, listKeys) ? getEra(meta, method, undefined, headers) : undefined;
    return era && { id, era, method };
  }
  const { name, arguments: args = {} } = params;
  if (method !== 'tools/call' || typeof name !== 'string' || !isObject(args)) return undefined;
  const era = hasOnly(params, callKeys) ? getEra(meta, method, name, headers) : undefined;
  return era && { id, era, method, name, args };
}
