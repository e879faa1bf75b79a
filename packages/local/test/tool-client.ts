import {
  Client as ModernClient,
  StreamableHTTPClientTransport as ModernTransport,
} from '@modelcontextprotocol/client';
import { Client as EarlierClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as EarlierTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';

export interface ToolResult {
  readonly isError?: boolean;
  // The tests examine the results of every tool.
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly structuredContent?: any;
  readonly content: readonly { readonly text: string }[];
}

/** Options of the clients: who receives progress. */
interface CallOptions {
  readonly onprogress?: (progress: { progress: number; total?: number; message?: string }) => void;
}

/** An agent's connection through one of the official clients. */
export interface ToolClient {
  listNames(): Promise<string[]>;
  call(name: string, args?: Record<string, unknown>, options?: CallOptions): Promise<ToolResult>;
  close(): Promise<void>;
}

const info = { name: 'agent', version: '1' };
type Connect = (url: string, headers: Record<string, string>) => Promise<ToolClient>;

type CallTool = (call: { name: string; arguments: object }, options: CallOptions) => Promise<unknown>;

const wrap = (client: EarlierClient | ModernClient, callTool: CallTool): ToolClient => ({
  listNames: async () => (await client.listTools()).tools.map(({ name }) => name),
  call: async (name, args = {}, options = {}) =>
    (await callTool({ name, arguments: args }, options)) as ToolResult,
  close: () => client.close(),
});

const connectV1: Connect = async (url, headers) => {
  const client = new EarlierClient(info);
  // The SDK's own types disagree under exactOptionalPropertyTypes.
  await client.connect(new EarlierTransport(new URL(url), { requestInit: { headers } }));
  return wrap(client, (call, options) => client.callTool(call as never, undefined, options as never));
};

export const connectV2: Connect = async (url, headers) => {
  const client = new ModernClient(info, { versionNegotiation: { mode: { pin: '2026-07-28' } } });
  await client.connect(new ModernTransport(new URL(url), { requestInit: { headers } }));
  return wrap(client, (call, options) => client.callTool(call as never, options as never));
};

/** Version 1 of the official client, which today's agents use, and version 2, which supports the stateless revision. */
export const connectors = { v1: connectV1, v2: connectV2 } as const;
