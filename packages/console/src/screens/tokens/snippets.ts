interface Snippet {
  readonly name: string;
  readonly code: string;
}

const HEADER = "'Authorization: Bearer ${PLATFORM_TOKEN}'";
const toJson = (value: unknown): string => JSON.stringify(value, null, 2);

const toVsCode = (url: string): string =>
  toJson({
    inputs: [{ type: 'promptString', id: 'token', description: 'Platform token', password: true }],
    servers: {
      platform: { type: 'http', url, headers: { Authorization: 'Bearer ${input:token}' } },
    },
  });

const toCursor = (url: string): string =>
  toJson({
    mcpServers: { platform: { url, headers: { Authorization: 'Bearer ${env:PLATFORM_TOKEN}' } } },
  });

const toCurl = (url: string): string =>
  [
    `curl -s ${url} -H "authorization: Bearer $PLATFORM_TOKEN" \\`,
    `  -H 'content-type: application/json' \\`,
    `  -d '{"jsonrpc":"2.0","id":1,"method":"tools/list"}'`,
  ].join('\n');

/** The configuration of the tool endpoint for each client. None holds the token: the clients read a variable. */
export const createSnippets = (url: string): readonly Snippet[] => [
  { name: 'Claude Code', code: `claude mcp add --transport http platform ${url} --header ${HEADER}` },
  { name: 'Codex', code: `codex mcp add platform --url ${url} --bearer-token-env-var PLATFORM_TOKEN` },
  { name: 'VS Code', code: toVsCode(url) },
  { name: 'Cursor', code: toCursor(url) },
  { name: 'curl', code: toCurl(url) },
];
