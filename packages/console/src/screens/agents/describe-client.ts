/** What clients call themselves, in `clientInfo` or as the user agent of their requests. */
const KNOWN: readonly (readonly [RegExp, string])[] = [
  [/^claude-code\b/i, 'Claude Code'],
  [/^claude\b/i, 'Claude'],
  [/^codex/i, 'Codex'],
  [/^(?:openai|chatgpt)/i, 'ChatGPT'],
  [/^(?:visual studio code|vscode)/i, 'VS Code'],
  [/^cursor\b/i, 'Cursor'],
  [/^gemini-cli\b/i, 'Gemini CLI'],
  [/^python|^mcp\/|httpx/i, 'A Python program'],
  [/^node\b|^undici\b/i, 'A Node.js program'],
  [/^curl\b/i, 'curl'],
];

/** Names a client as people know it. @returns undefined for one that gives no name. */
export function describeClient(client: string | null): string | undefined {
  if (client === null || client.trim() === '') return undefined;
  const known = KNOWN.find(([form]) => form.test(client));
  if (known) return known[1];
  // A name and a version: the first word, or all before a slash.
  return /^[^/(]+/.exec(client)?.[0].trim().slice(0, 60) || undefined;
}
