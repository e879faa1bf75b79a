import { createApp, createLogger, standardErrors } from '../index.js';

async function toHeaders(headers: Record<string, string>): Promise<Record<string, unknown>> {
  const about = { service: 'test', title: 'Test', description: '' };
  const log = createLogger('test', 'silent');
  const { app } = await createApp({ ...about, errors: standardErrors, log, trustProxy: ['127.0.0.1'] });
  const answer = await app.inject({ url: '/nothing', headers });
  await app.close();
  return answer.headers;
}

test('every response forbids sniffing, framing and loading', async () => {
  expect(await toHeaders({})).toMatchObject({
    'x-content-type-options': 'nosniff',
    'content-security-policy': "default-src 'none';frame-ancestors 'none'",
  });
});

test('sends Strict-Transport-Security only over TLS, which a proxy may terminate', async () => {
  const name = 'strict-transport-security';
  expect(await toHeaders({})).not.toHaveProperty(name);
  expect(await toHeaders({ 'x-forwarded-proto': 'wss' })).not.toHaveProperty(name);
  expect((await toHeaders({ 'x-forwarded-proto': 'https' }))[name]).toMatch(/^max-age=\d+/);
});
