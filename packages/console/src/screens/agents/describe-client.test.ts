import { describeClient } from './describe-client.ts';

test.each([
  ['claude-code/2.1.330 (cli)', 'Claude Code'],
  ['Claude-User', 'Claude'],
  ['codex_cli_rs/0.169.0', 'Codex'],
  ['codex-mcp-client 0.169.0', 'Codex'],
  ['openai-mcp/1.0.0', 'ChatGPT'],
  ['Visual Studio Code 1.120', 'VS Code'],
  ['Cursor/2.1', 'Cursor'],
  ['curl/8.5.0', 'curl'],
  ['python-httpx/0.28', 'A Python program'],
  ['node', 'A Node.js program'],
  ['my agent/1.0', 'my agent'],
  ['/', undefined],
  ['', undefined],
  [null, undefined],
])('describeClient names %j as %s', (client, name) => {
  expect(describeClient(client)).toBe(name);
});
