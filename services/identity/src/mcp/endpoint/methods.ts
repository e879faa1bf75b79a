import { Type } from 'typebox';
import { modernFields, type ServerInfo, UNCACHED } from './catalogue.js';
import {
  acceptsUrls,
  LEGACY_VERSIONS,
  MODERN_VERSION,
  type ProtocolEra,
  SERVER_INFO_META_KEY,
  SUBSCRIPTION_ID_META_KEY,
} from './protocol-era.js';
import { isObject, type Json, RpcCode, RpcFault, type RpcRequest } from './rpc-message.js';
import { compileCheck } from './schema-check.js';
import type { Caller, CallTool, RefusedCalls } from './tool-calls.js';
import type { ToolSchema } from './tool.js';
import {
  createResultFrame,
  getLink,
  type ResultFrame,
  type ToolResult,
  toResultJson,
} from './tool-result.js';

/** A request, its caller, and the way to notify the client before the response. */
export interface Exchange {
  readonly request: RpcRequest;
  readonly caller: Caller;
  /** Sends a notification. It is dropped when the response isn't an event stream. */
  notify(method: string, params: Json): void;
}

/** Returns the result as JSON, as text or in UTF-8. @throws RpcFault. */
export type Method = (exchange: Exchange) => string | Buffer | Promise<string>;

/** The methods that each revision has, by name. */
export type Methods = Readonly<Record<ProtocolEra, ReadonlyMap<string, Method>>>;

const InitializeParams = Type.Object({
  protocolVersion: Type.String(),
  capabilities: Type.Object({}),
  clientInfo: Type.Object({ name: Type.String(), version: Type.String() }),
});
const ListParams = Type.Object({ cursor: Type.Optional(Type.String()) });
const CallParams = Type.Object({
  name: Type.String(),
  arguments: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
});
const ListenParams = Type.Object({ notifications: Type.Object({}) });

/** The methods of an extension of the protocol, in both eras. Each returns its result. @throws RpcFault. */
export type ExtensionMethods = Readonly<Record<string, (exchange: Exchange) => object | Promise<object>>>;

/** Null in an optional parameter counts as absence. */
const withoutNulls = (params: Json): Json =>
  Object.values(params).includes(null)
    ? Object.fromEntries(Object.entries(params).filter(([, value]) => value !== null))
    : params;

/** Reads the parameters of a method. @throws RpcFault -32602 that names the first fault. */
export function createReader<T extends ToolSchema>(schema: T) {
  const check = compileCheck(schema, '');
  return ({ method, params: given }: RpcRequest): Type.Static<T & Type.TSchema> => {
    const params = withoutNulls(given);
    const [fault] = check(params);
    if (!fault) return params as Type.Static<T & Type.TSchema>;
    const field = ['params', fault.field].filter((part) => part !== '').join('.');
    throw new RpcFault(RpcCode.invalidParams, `Invalid ${method} request: ${field}: ${fault.message}`);
  };
}

/** Clients read either of the two (SEP-3415, and ChatGPT). */
const eventCapabilities = { events: {}, extensions: { 'io.modelcontextprotocol/events': {} } };

/** Creates the methods of a stateless server that has tools, and events where there are methods for them. */
export function createMethods(
  server: ServerInfo,
  { callTool, recordUnknown }: { readonly callTool: CallTool } & Pick<RefusedCalls, 'recordUnknown'>,
  events?: ExtensionMethods,
): Methods {
  const capabilities = { tools: {}, ...(events && eventCapabilities) };
  const readInitialize = createReader(InitializeParams);
  const readList = createReader(ListParams);
  const readCall = createReader(CallParams);
  const readListen = createReader(ListenParams);

  const initialize: Method = ({ request }) => {
    const { protocolVersion: requested } = readInitialize(request);
    const protocolVersion = LEGACY_VERSIONS.includes(requested) ? requested : LEGACY_VERSIONS[0];
    return JSON.stringify({ protocolVersion, capabilities, serverInfo: server });
  };
  const discover: Method = () =>
    JSON.stringify({
      supportedVersions: [MODERN_VERSION],
      capabilities,
      ...UNCACHED,
      ...modernFields(server),
    });

  const createListTools =
    (era: ProtocolEra): Method =>
    ({ request, caller }) => {
      // The list always fits on one page, so no cursor is ever valid.
      if (readList(request).cursor !== undefined) throw new RpcFault(RpcCode.invalidParams, 'Unknown cursor');
      return caller.view.listJson(era);
    };

  /** Has a person open a URL: the client calls again then, and is told in words if that has not helped. */
  function toInputRequired(request: RpcRequest, result: ToolResult): string | undefined {
    const link = getLink(result);
    if (!link || !acceptsUrls(request) || isObject(request.params['inputResponses'])) return undefined;
    const { reason: message, url } = link;
    const params = { mode: 'url', message, url };
    return JSON.stringify({
      ...modernFields(server),
      resultType: 'input_required',
      inputRequests: { open: { method: 'elicitation/create', params } },
    });
  }

  const createCallTool =
    (era: ProtocolEra, frame: ResultFrame): Method =>
    async ({ request, caller }) => {
      const { name, arguments: args = {} } = readCall(request);
      const entry = caller.catalogue.find(name);
      if (!entry) {
        recordUnknown(caller, name);
        throw new RpcFault(RpcCode.invalidParams, `Unknown tool: ${name.slice(0, 64)}`);
      }
      const result = await callTool(caller, entry, args);
      return (era === 'modern' && toInputRequired(request, result)) || toResultJson(result, frame);
    };

  /** Ends a subscription at once: a stateless server reports no changes. */
  const listen: Method = ({ request, notify }) => {
    readListen(request);
    const subscription = { [SUBSCRIPTION_ID_META_KEY]: request.id };
    notify('notifications/subscriptions/acknowledged', { notifications: {}, _meta: subscription });
    const _meta = { ...subscription, [SERVER_INFO_META_KEY]: server };
    return JSON.stringify({ resultType: 'complete', _meta });
  };

  const toMethods = (era: ProtocolEra): [string, Method][] =>
    Object.entries(events ?? {}).map(([name, call]) => {
      const isList = name.endsWith('/list');
      const more = era === 'modern' ? { ...(isList && UNCACHED), ...modernFields(server) } : {};
      return [name, async (exchange) => JSON.stringify({ ...(await call(exchange)), ...more })];
    });

  return {
    legacy: new Map<string, Method>([
      ['initialize', initialize],
      ['ping', () => '{}'],
      ['tools/list', createListTools('legacy')],
      ['tools/call', createCallTool('legacy', createResultFrame({}))],
      ...toMethods('legacy'),
    ]),
    modern: new Map<string, Method>([
      ['server/discover', discover],
      ['tools/list', createListTools('modern')],
      ['tools/call', createCallTool('modern', createResultFrame(modernFields(server)))],
      ['subscriptions/listen', listen],
      ...toMethods('modern'),
    ]),
  };
}
