import { callUrl, waitFor } from '@platform/testing';
import { daily } from '../support/crawls.js';
import { type Platform, startPlatform } from '../support/platform.js';

/* A ring that was accepted is one run, whatever is killed before the run is made. */

const DELAY_MS = 300;
const ROUNDS = 5;

let platform: Platform;
beforeAll(async () => {
  const env = { HOOK_DELAY_MS: String(DELAY_MS), ROLE: 'api' };
  platform = await startPlatform({ backend: 'postgres', env });
});
afterAll(() => platform.close());

test('a ring is one run when the replica that answered it and the replica that makes runs are killed', async () => {
  await platform.call('POST', '/code_1/schedule', { body: { scheduleConfig: daily } });
  const { data: hook } = (await platform.call('POST', '/code_1/hooks', { body: { kind: 'bearer' } })).body;
  const addProcess = async (role: string) => {
    const replica = await platform.addProcess({ ROLE: role });
    const isReady = async () => (await callUrl(`${replica.url}/health/ready`, 'GET')).status === 200;
    await waitFor(isReady, { what: 'readiness' });
    return replica;
  };
  const listRuns = async () => (await platform.call('GET', '/code_1/runs')).body.data;
  for (let round = 1; round <= ROUNDS; round += 1) {
    const [api, worker] = [await addProcess('api'), await addProcess('worker')];
    const { status } = await callUrl(api.url + hook.path, 'POST', { token: hook.secret });
    expect(status).toBe(202);
    // Before, about when, and after the run is due.
    const pauseMs = (2 * DELAY_MS * (round - 1)) / (ROUNDS - 1);
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
    await Promise.all([api.kill(), worker.kill()]);
    const next = await addProcess('worker');
    await waitFor(
      async () => {
        const runs = await listRuns();
        return runs.length === round && runs[0].outcome === 'completed';
      },
      { what: `the run of round ${round}` },
    );
    await next.stop();
  }
  const triggers = (await listRuns()).map(({ trigger }: { readonly trigger: string }) => trigger);
  expect(triggers).toEqual(Array.from({ length: ROUNDS }, () => 'hook'));
});
