import type { AdminSession } from '../admin-session.js';
import { assertOk, changeState, readState } from './state.js';

const CRAWL = '/api/v1/crawlingManager';
const SCHEDULE = {
  scheduleConfig: { scheduleType: 'custom', cronExpression: '*/5 * * * *', timezone: 'UTC' },
  worker: 'pull',
  fullEvery: 'P7D',
};

interface Schedule {
  /** `timestamp` is when it was created or replaced. */
  readonly data: { readonly timestamp: string };
}

/**
 * Schedules the connectors that have no schedule yet, and runs them now. What was scheduled before and has no worker now
 * is paused. A schedule that is not the demo's, or that an administrator has replaced, paused or removed since, stays as
 * it is.
 *
 * @param served - the connectors that the demo's worker claims. @throws Error with the platform's response.
 */
export async function scheduleDemo(
  { call }: AdminSession,
  dataDir: string,
  served: readonly string[],
): Promise<void> {
  const state = await readState(dataDir);
  const schedules = { ...state.schedules };
  const paused = new Set(state.paused);

  /** @returns undefined when there is none. */
  async function findSchedule(connector: string): Promise<Schedule | undefined> {
    const response = await call('GET', `${CRAWL}/${connector}/schedule`);
    if (response.status === 404) return undefined;
    return ((await (await assertOk(response)).json()) as { data: Schedule }).data;
  }
  async function isOwn(connector: string): Promise<boolean> {
    return (await findSchedule(connector))?.data.timestamp === schedules[connector];
  }

  for (const connector of Object.keys(schedules))
    if (!served.includes(connector) && !paused.has(connector) && (await isOwn(connector))) {
      // Refused when an administrator has paused it, who then decides when it resumes.
      if ((await call('POST', `${CRAWL}/${connector}/pause`)).ok) paused.add(connector);
    }
  for (const connector of served) {
    if (schedules[connector] === undefined) {
      if (await findSchedule(connector)) continue;
      const created = await assertOk(await call('POST', `${CRAWL}/${connector}/schedule`, SCHEDULE));
      schedules[connector] = ((await created.json()) as { data: { scheduledAt: string } }).data.scheduledAt;
    } else if (!(await isOwn(connector))) continue;
    if (paused.delete(connector)) await call('POST', `${CRAWL}/${connector}/resume`);
    // Refused when it is paused or running already.
    await call('POST', `${CRAWL}/${connector}/run`);
  }
  await changeState(dataDir, { schedules, paused: [...paused] });
}
