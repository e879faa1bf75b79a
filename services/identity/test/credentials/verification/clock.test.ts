import { DAY_MS, HOUR_MS } from '@platform/service-kit';
import { startIdentity } from '../../identity.js';
import { startProbeService } from './probe-service.js';

const identity = await startIdentity();
const skews = [-2 * DAY_MS, -30_000, 30_000];
const probes = await Promise.all(
  skews.map((skewMs) => startProbeService(identity.url, () => Date.now() + skewMs)),
);
afterAll(async () => {
  await Promise.all(probes.map((probe) => probe.close()));
  await identity.close();
});

test('services accept a session and a token when their clocks are slow, or fast by less than a minute', async () => {
  const session = await identity.login();
  const { accessToken } = await identity.createToken(session, { scopes: ['user:read'] });
  for (const probe of probes) {
    expect((await probe.whoami(session)).status).toBe(200);
    expect((await probe.whoami(accessToken)).status).toBe(200);
  }
});

test('every service rejects an expired credential, even when its clock is two days slow', async () => {
  const session = await identity.login();
  const { accessToken } = await identity.createToken(session, { scopes: ['user:read'], expiryDays: 30 });
  const forever = await identity.createToken(session, { scopes: ['user:read'], expiryDays: 'never' });
  identity.advance(DAY_MS + HOUR_MS);
  expect((await identity.call('GET', '/api/v1/users/me', { token: session })).status).toBe(401);
  for (const probe of probes) expect((await probe.whoami(session)).status).toBe(401);
  expect((await identity.call('GET', '/api/v1/users/me', { token: accessToken })).status).toBe(200);
  identity.advance(29 * DAY_MS);
  expect((await identity.call('GET', '/api/v1/users/me', { token: accessToken })).status).toBe(401);
  expect((await identity.call('GET', '/api/v1/users/me', { token: forever.accessToken })).status).toBe(200);
});
