import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { disableDemoMount, mountDemoServer } from '../src/demo/mount.js';

const SERVERS = '/api/v1/mcp-servers';
let dataDir: string;
beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'demo-mount-'));
});
afterEach(() => rm(dataDir, { recursive: true }));

/** Stores one mount, as the platform does. */
function createSession() {
  const server = { id: 'x', isEnabled: true };
  const call = (method: string, path: string, body?: object) => {
    if (path === `${SERVERS}/x` && method === 'PATCH') Object.assign(server, body);
    return Promise.resolve(Response.json(path.includes('/tools') ? { data: [] } : { server }));
  };
  return { server, session: { orgId: 'y', userId: 'z', call } };
}

test('a start enables the mount that a start without the demo has disabled', async () => {
  const { server, session } = createSession();
  await mountDemoServer(session, dataDir, 'http://127.0.0.1:1/mcp', ['files_1']);
  await disableDemoMount(session, dataDir);
  expect(server.isEnabled).toBe(false);
  await mountDemoServer(session, dataDir, 'http://127.0.0.1:2/mcp', ['files_1']);
  expect(server).toMatchObject({ isEnabled: true, url: 'http://127.0.0.1:2/mcp' });
});

test('no start enables a mount that an administrator has disabled', async () => {
  const { server, session } = createSession();
  await mountDemoServer(session, dataDir, 'http://127.0.0.1:1/mcp', ['files_1']);
  server.isEnabled = false;
  await disableDemoMount(session, dataDir);
  await mountDemoServer(session, dataDir, 'http://127.0.0.1:2/mcp', ['files_1']);
  expect(server).toMatchObject({ isEnabled: false, url: 'http://127.0.0.1:2/mcp' });
});
