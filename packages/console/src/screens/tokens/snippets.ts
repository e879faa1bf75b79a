import { tokens } from '#text/tokens';

const t = tokens.shown;

interface Snippet {
  readonly name: string;
  readonly code: string;
  /** Where the lines go, and where they leave the token. */
  readonly hint: string;
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

/** With the token in it: Cursor is started by the desktop, which knows no variable of a shell. */
const toCursor = (url: string, token: string): string =>
  toJson({ mcpServers: { platform: { url, headers: { Authorization: `Bearer ${token}` } } } });

const toCurl = (): string =>
  [
    `curl -s ${location.origin}/api/v1/personal-access-tokens/self \\`,
    `  -H "authorization: Bearer $PLATFORM_TOKEN"`,
  ].join('\n');

/** Sets the variable that the commands read, so that they work when they are pasted as they are. */
const withToken = (token: string, command: string): string => `export PLATFORM_TOKEN='${token}'\n${command}`;

/**
 * Snippets that set the tool endpoint up in each client, and work when pasted as they are: commands set the variable that
 * the client reads, VS Code asks for the token. The first call with curl says what the token may do.
 */
export const createSnippets = (url: string, token: string): readonly Snippet[] => [
  {
    name: 'Claude Code',
    code: withToken(token, `claude mcp add --transport http platform ${url} --header ${HEADER}`),
    hint: t.variableKept,
  },
  {
    name: 'Codex',
    code: withToken(token, `codex mcp add platform --url ${url} --bearer-token-env-var PLATFORM_TOKEN`),
    hint: t.variableKept,
  },
  { name: 'VS Code', code: toVsCode(url), hint: t.vsCode },
  { name: 'Cursor', code: toCursor(url, token), hint: t.cursor },
  { name: 'curl', code: withToken(token, toCurl()), hint: t.variable },
];
