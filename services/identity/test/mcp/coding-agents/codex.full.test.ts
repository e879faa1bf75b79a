import { startAgentHome } from './run-agent.js';

/* The program itself, from nothing to a tool call. Only its model is a fake. */

const agent = await startAgentHome();
afterAll(() => agent.close());

const inFile = ['-c', 'mcp_oauth_credentials_store="file"'];

test('Codex signs in from nothing and calls a tool', async () => {
  const { run, endpoint, modelUrl } = agent;
  const added = await run('codex', [...inFile, 'mcp', 'add', 'platform', '--url', endpoint]);
  expect(added).toContain('Successfully logged in');
  const provider = `{name="fake",base_url="${modelUrl}/v1",wire_api="responses",env_key="FAKE_KEY"}`;
  const settings = ['model_provider="fake"', `model_providers.fake=${provider}`, 'model="fake"'];
  const options = ['--skip-git-repo-check', '--sandbox', 'read-only'];
  const args = [...inFile, 'exec', ...options, ...settings.flatMap((one) => ['-c', one]), 'Who am I?'];
  await agent.expectCall(await run('codex', args, { FAKE_KEY: 'fake' }), /^Codex/);
});
