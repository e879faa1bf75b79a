import { startIdentity } from '../../identity.js';
import { createCaller } from './endpoint.js';

const identity = await startIdentity({ environment: { MCP_REQUESTS_PER_MINUTE: '4' } });
const session = await identity.login();
afterAll(() => identity.close());

test('limits the requests per minute of each credential separately, and refills over time', async () => {
  const busy = createCaller(identity, (await identity.createToken(session)).accessToken);
  const calm = createCaller(identity, (await identity.createToken(session)).accessToken);
  expect((await busy.legacy('tools/list')).status).toBe(200);
  expect((await busy.post('not JSON')).status).toBe(400);
  expect((await busy.modern('tools/list')).status).toBe(200);
  expect((await busy.legacy('ping')).status).toBe(200);
  const { status, headers, body } = await busy.legacy('tools/list');
  expect([status, body]).toEqual([
    429,
    { jsonrpc: '2.0', id: null, error: { code: -32_001, message: 'Too many requests of this credential' } },
  ]);
  expect(Number(headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
  expect(Number(headers.get('retry-after'))).toBeLessThanOrEqual(15);
  expect((await calm.legacy('tools/list')).status).toBe(200);
  // The REST endpoints are not limited with it.
  expect((await identity.call('GET', '/api/v1/users/me', { token: session })).status).toBe(200);
  identity.advance(Number(headers.get('retry-after')) * 1_000);
  expect((await busy.legacy('tools/list')).status).toBe(200);
  expect((await busy.legacy('tools/list')).status).toBe(429);
});
