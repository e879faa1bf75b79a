import type { AdminSession } from '../admin-session.js';
import { assertOk, changeState, readState } from './state.js';

const CRAWL = '/api/v1/crawlingManager';
const SCHEDULE = {
  scheduleConfig: { scheduleType: 'custom', cronExpression: '*/5 * * * *', timezone: 'UTC' },
  worker: 'pull',
  fullEvery: 'P7D',
};

/**
 * Schedules the connectors that have no schedule yet, and runs them now. What was scheduled before and has no worker now
 * is paused. A schedule that is not the demo's stays as it is, and so does one that an administrator has paused or removed
 * since.
 *
 * @param served - the connectors that the demo's worker claims. @throws Error with the platform's response.
 */
export async function scheduleDemo(
  { call }: AdminSession,
  dataDir: string,
  served: readonly string[],
): Promise<void> {
  const state = await readState(dataDir);
  const [scheduled, paused] = [new Set(state.scheduled), new Set(state.paused)];
  for (const connector of scheduled)
    if (!served.includes(connector) && !paused.has(connector)) {
      await call('POST', `${CRAWL}/${connector}/pause`);
      paused.add(connector);
    }
  for (const connector of served) {
    if (!scheduled.has(connector)) {
      const { status } = await call('GET', `${CRAWL}/${connector}/schedule`);
      if (status === 200) continue;
      await assertOk(await call('POST', `${CRAWL}/${connector}/schedule`, SCHEDULE));
      scheduled.add(connector);
    }
    if (paused.delete(connector)) await call('POST', `${CRAWL}/${connector}/resume`);
    // Refused when it is paused, removed or running already.
    await call('POST', `${CRAWL}/${connector}/run`);
  }
  await changeState(dataDir, { scheduled: [...scheduled], paused: [...paused] });
}
