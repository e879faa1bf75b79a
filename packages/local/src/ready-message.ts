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
  readonly seconds: string;
}

/** Returns example commands for any POSIX shell with curl and sed. */
function curlLines({ baseUrl, adminEmail, adminPassword }: ReadyFacts): string {
  const login = JSON.stringify({ email: adminEmail, password: adminPassword ?? '<the admin password>' });
  const token = JSON.stringify({ name: 'first token', scopes: ['user:read'], expiryDays: 30 });
  const json = "-H 'content-type: application/json'";
  const pick = (key: string) => `sed 's/.*"${key}":"\\([^"]*\\)".*/\\1/'`;
  // No comments among the lines: an interactive zsh would run them.
  return `BASE=${baseUrl}
SESSION=$(curl -s $BASE/api/v1/auth/login ${json} -d ${quote(login)} | ${pick('accessToken')})
CREATED=$(curl -s $BASE/api/v1/personal-access-tokens -H "authorization: Bearer $SESSION" ${json} -d ${quote(token)})
TOKEN=$(printf %s "$CREATED" | ${pick('accessToken')})
ID=$(printf %s "$CREATED" | ${pick('id')})
echo "Calling with the token:"; curl -s $BASE/api/v1/users/me -H "authorization: Bearer $TOKEN"; echo
echo "Revoking it:"; curl -s -X DELETE $BASE/api/v1/personal-access-tokens/$ID -H "authorization: Bearer $SESSION"; echo
echo "Refused from now on:"; curl -s -w ' %{http_code}\\n' $BASE/api/v1/users/me -H "authorization: Bearer $TOKEN"`;
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
${notes}
The main job, to paste into a shell: log in, create a token, call with it, revoke it, be refused.

${curlLines(facts)}

Stop with Ctrl-C; the data stays.
`;
}

/** Quotes any text for a shell, in single quotes. */
const quote = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;
