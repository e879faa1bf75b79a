import { startAgentHome } from './run-agent.js';

/* The program itself, from nothing to a tool call. Only its model is a fake. */

const agent = await startAgentHome();
afterAll(() => agent.close());

const quiet = { CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1', ENABLE_TOOL_SEARCH: 'false' };

test('Claude Code signs in from nothing and calls a tool', async () => {
  const { run, endpoint, modelUrl } = agent;
  await run('claude', ['mcp', 'add', '--transport', 'http', 'platform', endpoint], quiet);
  // It signs in at a terminal only.
  const signedIn = await run('script', ['-qec', 'claude mcp login platform', '/dev/null'], quiet);
  expect(signedIn).toContain('Authenticated with "platform"');
  expect(await run('claude', ['mcp', 'list'], quiet)).toContain('Connected');
  const printed = await run('claude', ['-p', 'Who am I?', '--allowedTools', 'mcp__platform__whoami'], {
    ...quiet,
    ANTHROPIC_BASE_URL: modelUrl,
    ANTHROPIC_API_KEY: 'fake',
  });
  await agent.expectCall(printed, /^Claude Code/);
});
