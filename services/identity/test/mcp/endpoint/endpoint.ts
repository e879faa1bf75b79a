import type { Answer } from '@platform/testing';
import type { IdentityUnderTest } from '../../identity.js';

export const VERSION = '2026-07-28';
const accept = 'application/json, text/event-stream';

/** Requests of the tool endpoint, in the form of either era. */
export function createCaller(identity: Pick<IdentityUnderTest, 'call'>, token: string) {
  const post = (raw: string, headers: Record<string, string> = {}, path = '/mcp'): Promise<Answer> =>
    identity.call('POST', path, { token, raw, headers: { accept, ...headers } });
  const legacy = (method: string, params?: object, headers: Record<string, string> = {}, path?: string) =>
    post(
      JSON.stringify({ jsonrpc: '2.0', id: 1, method, ...(params && { params }) }),
      { 'mcp-protocol-version': '2025-11-25', ...headers },
      path,
    );
  const modern = (method: string, params: object = {}, headers: Record<string, string> = {}) => {
    const _meta = {
      'io.modelcontextprotocol/protocolVersion': VERSION,
      'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
      'io.modelcontextprotocol/clientCapabilities': {},
    };
    const name = (params as { name?: string }).name;
    const merged = { ..._meta, ...(params as { _meta?: object })._meta };
    return post(JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: { ...params, _meta: merged } }), {
      'mcp-protocol-version': VERSION,
      'mcp-method': method,
      ...(name && { 'mcp-name': name }),
      ...headers,
    });
  };
  return { post, legacy, modern };
}
