import { performance } from 'node:perf_hooks';
import { type Answer, waitFor } from '@platform/testing';
import { startIdentity } from '../../identity.js';
import { startProbeService } from './probe-service.js';
import { type Exchange, startTraffic } from './traffic.js';

const identity = await startIdentity();
const session = await identity.login();
const probe = await startProbeService(identity.url);
afterAll(async () => {
  await probe.close();
  await identity.close();
});

const me = (token: string) => identity.call('GET', '/api/v1/users/me', { token });

/** Keeps 50 requests in flight through both services, calls `end`, and then sends more. */
async function overTraffic(
  token: string,
  end: () => Promise<Answer>,
): Promise<{ exchanges: Exchange[]; ended: number }> {
  const traffics = [startTraffic(25, () => me(token)), startTraffic(25, () => probe.whoami(token))];
  await waitFor(() => traffics.every(({ exchanges }) => exchanges.length > 100), {
    what: 'traffic',
  });
  // 503: the machine is busy.
  for (let status = 503; status === 503;) ({ status } = await end());
  const ended = performance.now();
  const late = () =>
    traffics.every(({ exchanges }) => exchanges.filter(({ startedAt }) => startedAt > ended).length > 100);
  await waitFor(late, { what: 'traffic after the end' });
  const exchanges = (await Promise.all(traffics.map((traffic) => traffic.stop()))).flat();
  return { exchanges, ended };
}

/** On a busy machine, a response may also be 503, because liveness wasn't known in time, but never 200. */
function expectCutOff({ exchanges, ended }: { exchanges: Exchange[]; ended: number }): void {
  const statuses = new Set(exchanges.map(({ status }) => status));
  statuses.delete(503);
  expect(statuses).toEqual(new Set([200, 401]));
  const after = exchanges.filter(({ startedAt }) => startedAt >= ended);
  expect(after.filter(({ status }) => status === 200)).toEqual([]);
}

test('every service rejects each request that starts after a revocation was acknowledged, with 50 in flight', async () => {
  const token = await identity.createToken(session, { scopes: ['user:read'] });
  const path = `/api/v1/personal-access-tokens/${token.id}`;
  expectCutOff(await overTraffic(token.accessToken, () => identity.call('DELETE', path, { token: session })));
});

test('every request that starts after the removal of a member was acknowledged is rejected, by token or session', async () => {
  const member = await identity.createMember(session);
  const token = await identity.createToken(member.session, { scopes: ['user:read'] });
  const path = `/api/v1/users/${member.id}`;
  expectCutOff(await overTraffic(token.accessToken, () => identity.call('DELETE', path, { token: session })));
  expect((await me(member.session)).status).toBe(401);
  expect((await probe.whoami(member.session)).status).toBe(401);
});

test('a change of role takes effect at the next request, in every service', async () => {
  const member = await identity.createMember(session, 'admin');
  const before = await probe.whoami(member.session);
  expect(before.body).toMatchObject({ userId: member.id, role: 'admin' });
  await identity.call('PATCH', `/api/v1/users/${member.id}`, { token: session, body: { role: 'member' } });
  expect((await probe.whoami(member.session)).body).toMatchObject({ role: 'member' });
});
