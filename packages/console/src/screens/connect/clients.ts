import type { connect } from '#text/connect';

/** A way to connect: what to paste, and what happens then. */
interface Way {
  readonly code: string;
  readonly hint: keyof typeof connect.tokenHints | keyof typeof connect.hints;
  /** A program that the command runs. */
  readonly program?: string;
}

export interface Client {
  readonly id: string;
  readonly name: string;
  /** What its user does in the client, where there is nothing to paste. */
  readonly steps?: keyof typeof connect.steps;
  /** Undefined where it cannot sign in with a browser. */
  readonly oauth?: Way;
  /** Undefined where it takes no tokens. */
  readonly token?: Way;
  /** Whether it registers itself, because no document describes it. */
  readonly registersItself?: boolean;
  /** Whether it connects from its maker's servers. */
  readonly isRemote?: boolean;
}

const HEADER = "'Authorization: Bearer ${PLATFORM_TOKEN}'";
const toJson = (value: unknown): string => JSON.stringify(value, null, 2);

const toCurl = (url: string): string =>
  [
    `curl -s ${url} \\`,
    `  -H "Authorization: Bearer $PLATFORM_TOKEN" -H 'Content-Type: application/json' \\`,
    `  -d '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"whoami"}}'`,
  ].join('\n');

const toPythonWithToken = (url: string): string => `import asyncio
import os

from mcp.client import Client
from mcp.client.streamable_http import create_mcp_http_client, streamable_http_client

URL = "${url}"


async def main():
    headers = {"Authorization": f"Bearer {os.environ['PLATFORM_TOKEN']}"}
    http_client = create_mcp_http_client(headers=headers)
    async with http_client, Client(streamable_http_client(URL, http_client=http_client)) as client:
        result = await client.call_tool("whoami", {})
        print(result.structured_content)


asyncio.run(main())
`;

const toTypeScriptWithToken = (
  url: string,
): string => `import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';

const headers = { Authorization: \`Bearer \${process.env.PLATFORM_TOKEN}\` };
const client = new Client({ name: 'my-agent', version: '1.0.0' });
await client.connect(new StreamableHTTPClientTransport(new URL('${url}'), { requestInit: { headers } }));
const { structuredContent } = await client.callTool({ name: 'whoami', arguments: {} });
console.log(structuredContent);
await client.close();
`;

/**
 * The ways to connect each client, as docs/connect describes them. The secret of the token way is in a variable, so that no file
 * and no history of a shell holds it.
 */
export const listClients = (
  url: string,
  programs: { readonly python: string; readonly typescript: string },
): readonly Client[] => [
  { id: 'claude', name: 'Claude', steps: 'claude', isRemote: true },
  { id: 'chatgpt', name: 'ChatGPT', steps: 'chatgpt', isRemote: true },
  {
    id: 'claude-code',
    name: 'Claude Code',
    oauth: {
      code: `claude mcp add --transport http platform ${url}\nclaude mcp login platform`,
      hint: 'claude-code',
    },
    token: { code: `claude mcp add --transport http platform ${url} --header ${HEADER}`, hint: 'shell' },
  },
  {
    id: 'codex',
    name: 'Codex',
    oauth: { code: `codex mcp add platform --url ${url}`, hint: 'codex' },
    token: {
      code: `codex mcp add platform --url ${url} --bearer-token-env-var PLATFORM_TOKEN`,
      hint: 'codex',
    },
  },
  {
    id: 'vs-code',
    name: 'VS Code',
    oauth: { code: toJson({ servers: { platform: { type: 'http', url } } }), hint: 'vs-code' },
    token: {
      code: toJson({
        inputs: [{ type: 'promptString', id: 'token', description: 'Platform token', password: true }],
        servers: { platform: { type: 'http', url, headers: { Authorization: 'Bearer ${input:token}' } } },
      }),
      hint: 'vs-code',
    },
  },
  {
    id: 'cursor',
    name: 'Cursor',
    registersItself: true,
    oauth: { code: toJson({ mcpServers: { platform: { url } } }), hint: 'cursor' },
    token: {
      code: toJson({
        mcpServers: { platform: { url, headers: { Authorization: 'Bearer ${env:PLATFORM_TOKEN}' } } },
      }),
      hint: 'cursor',
    },
  },
  {
    id: 'python',
    name: 'Python',
    registersItself: true,
    oauth: {
      code: `pip install mcp==2.3.0\npython agent.py ${url}`,
      hint: 'python',
      program: programs.python,
    },
    token: { code: toPythonWithToken(url), hint: 'program' },
  },
  {
    id: 'typescript',
    name: 'TypeScript',
    registersItself: true,
    oauth: {
      code: `npm install @modelcontextprotocol/client@2.4.0\nnode agent.mjs ${url}`,
      hint: 'typescript',
      program: programs.typescript,
    },
    token: { code: toTypeScriptWithToken(url), hint: 'program' },
  },
  { id: 'curl', name: 'curl', token: { code: toCurl(url), hint: 'curl' } },
];

/** Matches hosts that the internet does not reach: of this machine, of private networks, and without a domain. */
const PRIVATE_HOST =
  /^(?:localhost|127\.|10\.\d+\.|192\.168\.|172\.(?:1[6-9]|2\d|3[01])\.|169\.254\.|\[)|^[^.]+$|\.(?:local|internal|lan|home|test|localhost)$/;

export const isPrivateHost = (host: string): boolean => PRIVATE_HOST.test(host);
