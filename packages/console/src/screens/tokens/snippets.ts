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

const toCurl = (): string =>
  [
    `curl -s ${location.origin}/api/v1/personal-access-tokens/self \\`,
    `  -H "authorization: Bearer $PLATFORM_TOKEN"`,
  ].join('\n');

/** Sets the variable that the commands read, so that they work when they are pasted as they are. */
const withToken = (token: string, command: string): string => `export PLATFORM_TOKEN='${token}'\n${command}`;

/**
 * The configuration of the tool endpoint for each client. Files hold no token: the clients ask for it, or read the
 * variable. The first call with curl says what the token may do.
 */
export const createSnippets = (url: string, token: string): readonly Snippet[] => [
  {
    name: 'Claude Code',
    code: withToken(token, `claude mcp add --transport http platform ${url} --header ${HEADER}`),
  },
  {
    name: 'Codex',
    code: withToken(token, `codex mcp add platform --url ${url} --bearer-token-env-var PLATFORM_TOKEN`),
  },
  { name: 'VS Code', code: toVsCode(url) },
  { name: 'Cursor', code: toCursor(url) },
  { name: 'curl', code: withToken(token, toCurl()) },
];
