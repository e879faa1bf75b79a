import { EndpointUnavailable } from '../../src/engine/tasks/task.js';
import { at, times, useRunRows } from '../support/run-rows.js';

const unavailable = (retryAfterMs?: number) =>
  new EndpointUnavailable('The endpoint answered 503', retryAfterMs);

/* The grace for endpoints is 90 s. It is longer than the timeout of the schedules, 60 s, which does not include waiting. */

describe('a run whose endpoint is unavailable', () => {
  const rows = useRunRows();

  /** Returns for how long the run of a schedule is postponed. */
  async function getPause(id: string): Promise<number> {
    const found = await rows.pool.query<{ at: Date }>(
      `select due_at as at from runs where schedule_id = $1 and state = 'retrying'`,
      [id],
    );
    return (found.rows[0]?.at.getTime() ?? NaN) - rows.now;
  }

  it('retries the same attempt with growing delays', async () => {
    const { id, claim, dispatch } = await rows.scheduleDaily();
    const lifecycle = rows.newLifecycle();
    const pauses: number[] = [];
    for (let time = 0; time < 6; time += 1) {
      const run = await claim();
      expect(run.attempts).toBe(1);
      expect(await lifecycle.postpone(run, unavailable())).toBe('postponed');
      expect(await dispatch()).toBeUndefined();
      const pause = await getPause(id);
      pauses.push(pause);
      rows.now += pause;
    }
    expect(pauses).toEqual([1_000, 1_000, 1_000, 1_500, 2_250, 3_375]);
    // oxfmt-ignore
    expect(await rows.getRuns(id)).toEqual([
      { state: 'retrying', reason: 'Waiting for the endpoint: The endpoint answered 503' },
    ]);
  });

  it('waits as long as Retry-After says, up to its grace, and then uses up an attempt', async () => {
    const { id, claim } = await rows.scheduleDaily();
    const lifecycle = rows.newLifecycle();
    await lifecycle.postpone(await claim(), unavailable(20_000));
    expect(await getPause(id)).toBe(20_000);
    rows.now = at + 20_000;
    await lifecycle.postpone(await claim(), unavailable(86_400_000));
    expect(await getPause(id)).toBe(times.endpointGraceMs - 20_000);
    rows.now = at + times.endpointGraceMs;
    const third = await claim();
    expect(third).toMatchObject({ attempts: 1, unavailableSince: new Date(at) });
    expect(await lifecycle.postpone(third, unavailable(1))).toBe('retry');
    expect(await rows.getRuns(id)).toEqual([
      { state: 'retrying', reason: 'The endpoint answered 503, for 90 s' },
    ]);
    // The next attempt is the last. It has its own grace.
    rows.now += times.retryDelayMs;
    const fourth = await claim();
    expect(fourth).toMatchObject({ attempts: 2, unavailableSince: null });
    rows.now += 20_000;
    await lifecycle.postpone(fourth, unavailable());
    expect(await getPause(id)).toBe(1_000);
    rows.now += times.endpointGraceMs;
    expect(await lifecycle.postpone(await claim(), unavailable())).toBe('failed');
  });

  it('is not postponed by a worker that has lost it, even if the write is repeated', async () => {
    const { id, claim } = await rows.scheduleDaily();
    const lifecycle = rows.newLifecycle();
    const first = await claim();
    await lifecycle.postpone(first, unavailable());
    await lifecycle.postpone(first, unavailable());
    rows.now += 1_000;
    const second = await claim();
    expect(second.attempts).toBe(1);
    expect(await lifecycle.postpone(first, unavailable())).toBe('void');
    expect(await rows.getRuns(id)).toMatchObject([{ state: 'active' }]);
  });

  it('has a new grace after its worker released it', async () => {
    const { id, claim } = await rows.scheduleDaily();
    const lifecycle = rows.newLifecycle();
    await lifecycle.postpone(await claim(), unavailable());
    rows.now += 1_000;
    await lifecycle.handBack(await claim());
    // No worker claims the run for an hour.
    rows.now += 3_600_000;
    const next = await claim();
    expect(next).toMatchObject({ attempts: 1, unavailableSince: null });
    expect(await lifecycle.postpone(next, unavailable())).toBe('postponed');
    expect(await getPause(id)).toBe(1_000);
  });
});
