import type * as sdk from '@modelcontextprotocol/server';
import { isObject, type Json, RpcCode, RpcFault, type RpcRequest } from './rpc-message.js';

/*
 * Names in the metadata of messages. Their types are the official SDK's, so that another value does not compile; importing
 * the values would load the whole SDK and its schema library, 30 MB of memory.
 */
const CLIENT_CAPABILITIES_META_KEY: typeof sdk.CLIENT_CAPABILITIES_META_KEY =
  'io.modelcontextprotocol/clientCapabilities';
export const CLIENT_INFO_META_KEY: typeof sdk.CLIENT_INFO_META_KEY = 'io.modelcontextprotocol/clientInfo';
const PROTOCOL_VERSION_META_KEY: typeof sdk.PROTOCOL_VERSION_META_KEY =
  'io.modelcontextprotocol/protocolVersion';
export const SERVER_INFO_META_KEY: typeof sdk.SERVER_INFO_META_KEY = 'io.modelcontextprotocol/serverInfo';
export const SUBSCRIPTION_ID_META_KEY: typeof sdk.SUBSCRIPTION_ID_META_KEY =
  'io.modelcontextprotocol/subscriptionId';

/** The protocol revision of a request: `modern` is the stateless one, 2026-07-28; `legacy` is any earlier one. */
export type ProtocolEra = 'modern' | 'legacy';

export const MODERN_VERSION = '2026-07-28';
/** The revisions of the official SDK, the newest first. */
export const LEGACY_VERSIONS: readonly string[] = [
  '2025-11-25',
  '2025-06-18',
  '2025-03-26',
  '2024-11-05',
  '2024-10-07',
];

export type Headers = Readonly<Record<string, string | readonly string[] | undefined>>;

/** Revisions are dates, so they sort as strings. */
const isModern = (version: unknown): version is string =>
  typeof version === 'string' && version >= MODERN_VERSION;

const unsupported = (requested: string, supported: readonly string[]): RpcFault =>
  new RpcFault(RpcCode.unsupportedVersion, `Unsupported protocol version: ${requested.slice(0, 64)}`, {
    status: 400,
    data: { supported, requested },
  });

const mismatch = (what: string): RpcFault =>
  new RpcFault(RpcCode.headerMismatch, `Bad Request: the headers and the body disagree: ${what}`, {
    status: 400,
  });

const invalidEnvelope = (key: string, problem: string): RpcFault =>
  new RpcFault(RpcCode.invalidParams, `Invalid _meta of revision ${MODERN_VERSION}: ${key}: ${problem}`, {
    status: 400,
    data: { envelope: { key, problem } },
  });

/** Whether the client of a modern request shows people a URL that the server names. */
export function acceptsUrls({ params }: RpcRequest): boolean {
  const meta = params['_meta'];
  const capabilities = isObject(meta) ? meta[CLIENT_CAPABILITIES_META_KEY] : undefined;
  const elicitation = isObject(capabilities) ? capabilities['elicitation'] : undefined;
  return isObject(elicitation) && isObject(elicitation['url']);
}

/** Returns the first fault of the metadata that a modern request carries instead of a session. */
function findEnvelopeFault(meta: Json): RpcFault | undefined {
  if (typeof meta[PROTOCOL_VERSION_META_KEY] !== 'string')
    return invalidEnvelope(PROTOCOL_VERSION_META_KEY, 'must be a string');
  if (!isObject(meta[CLIENT_CAPABILITIES_META_KEY]))
    return invalidEnvelope(CLIENT_CAPABILITIES_META_KEY, 'must be an object');
  const info = meta[CLIENT_INFO_META_KEY];
  const isNamed = isObject(info) && typeof info['name'] === 'string' && typeof info['version'] === 'string';
  return info === undefined || isNamed
    ? undefined
    : invalidEnvelope(CLIENT_INFO_META_KEY, 'must have a name and a version');
}

/** Decodes a header value, which is `=?base64?…?=` when it isn't plain ASCII. @returns undefined for invalid Base64. */
function decodeHeader(value: string): string | undefined {
  const [, encoded] = /^=\?base64\?(.*)\?=$/.exec(value) ?? [];
  if (encoded === undefined) return value;
  const bytes = Buffer.from(encoded, 'base64');
  return bytes.toString('base64') === encoded ? bytes.toString() : undefined;
}

/** Checks the headers that repeat parts of the body for proxies. @throws RpcFault -32020. */
function assertHeaders({ method, params }: RpcRequest, version: string, headers: Headers): void {
  if (headers['mcp-protocol-version'] !== version)
    throw mismatch(`MCP-Protocol-Version must be ${version}, as in _meta`);
  if (headers['mcp-method'] !== method) throw mismatch(`Mcp-Method must be ${method}`);
  const { name } = params;
  if (method !== 'tools/call' || typeof name !== 'string') return;
  const header = headers['mcp-name'];
  if (typeof header !== 'string' || decodeHeader(header) !== name)
    throw mismatch('Mcp-Name must be the name of the tool');
}

function assertModern(request: RpcRequest, meta: Json, headers: Headers): void {
  const fault = findEnvelopeFault(meta);
  if (fault) throw fault;
  const requested = meta[PROTOCOL_VERSION_META_KEY] as string;
  const sent = headers['mcp-protocol-version'];
  if (requested !== MODERN_VERSION && (sent === undefined || sent === requested))
    throw unsupported(requested, [MODERN_VERSION]);
  assertHeaders(request, requested, headers);
}

/** The header is optional: revisions before 2025-06-18 don't have it. @throws RpcFault 400. */
function assertLegacyVersion({ method, params }: RpcRequest, headers: Headers): void {
  const version = headers['mcp-protocol-version'];
  if (version === undefined || (typeof version === 'string' && LEGACY_VERSIONS.includes(version))) return;
  // A client that begins with an unknown version is offered ours in the response.
  if (method === 'initialize' && typeof params['protocolVersion'] === 'string') return;
  const message = `Bad Request: Unsupported protocol version (supported: ${LEGACY_VERSIONS.join(', ')})`;
  throw new RpcFault(RpcCode.serverError, message, { status: 400 });
}

/**
 * Finds out which revision a request speaks, and checks what that revision demands of its metadata and headers. The
 * metadata decides; the headers must agree with it.
 *
 * @throws RpcFault 400.
 */
export function resolveEra(request: RpcRequest, headers: Headers): ProtocolEra {
  const { _meta: meta } = request.params;
  const version = headers['mcp-protocol-version'];
  const isHeaderModern = isModern(version);
  if (isObject(meta) && PROTOCOL_VERSION_META_KEY in meta) {
    assertModern(request, meta, headers);
    return 'modern';
  }
  if (isHeaderModern && request.method === 'initialize')
    throw mismatch('initialize belongs to earlier revisions than MCP-Protocol-Version names');
  // Without metadata, the header alone names the version, and nobody has named ours.
  if (isHeaderModern && version !== MODERN_VERSION)
    throw unsupported(version, [MODERN_VERSION, ...LEGACY_VERSIONS]);
  if (isHeaderModern) throw invalidEnvelope(PROTOCOL_VERSION_META_KEY, 'missing');
  assertLegacyVersion(request, headers);
  return 'legacy';
}
