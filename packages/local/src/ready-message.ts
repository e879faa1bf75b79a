import type { DemoFacts } from './demo/demo.js';
import { MOUNT_NAME } from './demo/mount.js';

/** The data that is printed once everything runs. */
export interface ReadyFacts {
  readonly baseUrl: string;
  readonly adminEmail: string;
  readonly adminPassword: string | undefined;
  /** The URL of the inbox with the platform's mail. */
  readonly inboxUrl: string;
  readonly dataDir: string;
  readonly logsDir: string;
  readonly notes: readonly string[];
  /** The sources that are crawled for agents to search; absent without the demo. */
  readonly demo?: DemoFacts;
  /** What the same question finds for two people, in a line, once the documents are crawled. */
  readonly comparison?: Promise<string | undefined>;
  readonly seconds: string;
}

const JSON_HEADER = "-H 'content-type: application/json'";
const pick = (key: string): string => `sed 's/.*"${key}":"\\([^"]*\\)".*/\\1/'`;

/** Returns the commands that log the admin in and create a token. */
function tokenLines({ baseUrl, adminEmail, adminPassword }: ReadyFacts, token: object): string {
  const login = JSON.stringify({ email: adminEmail, password: adminPassword ?? '<the admin password>' });
  return `BASE=${baseUrl}
SESSION=$(curl -s $BASE/api/v1/auth/login ${JSON_HEADER} -d ${quote(login)} | ${pick('accessToken')})
CREATED=$(curl -s $BASE/api/v1/personal-access-tokens -H "authorization: Bearer $SESSION" ${JSON_HEADER} -d ${quote(JSON.stringify(token))})
TOKEN=$(printf %s "$CREATED" | ${pick('accessToken')})`;
}

/** Returns example commands for any POSIX shell with curl and sed. */
function curlLines(facts: ReadyFacts): string {
  // No comments among the lines: an interactive zsh would run them.
  return `${tokenLines(facts, { name: 'first token', scopes: ['user:read'], expiryDays: 30 })}
ID=$(printf %s "$CREATED" | ${pick('id')})
echo "Calling with the token:"; curl -s $BASE/api/v1/users/me -H "authorization: Bearer $TOKEN"; echo
echo "Revoking it:"; curl -s -X DELETE $BASE/api/v1/personal-access-tokens/$ID -H "authorization: Bearer $SESSION"; echo
echo "Refused from now on:"; curl -s -w ' %{http_code}\\n' $BASE/api/v1/users/me -H "authorization: Bearer $TOKEN"`;
}

/** Returns the commands with which an agent, here curl, searches what was crawled. */
function searchLines(facts: ReadyFacts): string {
  const params = { name: `${MOUNT_NAME}__search`, arguments: { query: 'how do I revoke a token' } };
  const call = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params });
  return `
An agent's search, to paste into a shell; any MCP client does the same with $BASE/mcp and the token. The answer names
the crawl that it comes from.

${tokenLines(facts, { name: 'agent', scopes: ['kb:read', 'semantic:write'], expiryDays: 30 })}
curl -s $BASE/mcp -H "authorization: Bearer $TOKEN" ${JSON_HEADER} -d ${quote(call)}; echo
`;
}

export function readyMessage(facts: ReadyFacts): string {
  const password = facts.adminPassword ?? 'as given at the first start (not kept here)';
  const notes = facts.notes.map((note) => `\nNote: ${note}`).join('');
  return `
The platform is ready (${facts.seconds} s).

  Base URL   ${facts.baseUrl}
  Admin      ${facts.adminEmail}
  Password   ${password}
  Docs       ${facts.baseUrl}/docs
  Inbox      ${facts.inboxUrl}
  Data       ${facts.dataDir}
  Logs       ${facts.logsDir}
${describeDemo(facts)}${notes}
The main job, to paste into a shell: log in, create a token, call with it, revoke it, be refused.

${curlLines(facts)}
${facts.demo ? searchLines(facts) : ''}
Stop with Ctrl-C; the data stays.
`;
}

const describeDemo = ({ demo, baseUrl }: ReadyFacts): string => {
  if (!demo) return '';
  const code = demo.repository === undefined ? '' : `, and ${demo.repository} as code_1`;
  return `  Crawling   ${demo.folder} as files_1${code}: watch ${baseUrl}/crawls, search within a minute
  Documents  ${demo.documentsUrl} takes those of your own workers: docs/connect/crawl-airbyte.md
${demo.people ? `  Member     ${demo.people.email}, password ${demo.people.password}, not in the group ${demo.people.group}\n` : ''}`;
};

/** Quotes any text for a shell, in single quotes. */
const quote = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;
