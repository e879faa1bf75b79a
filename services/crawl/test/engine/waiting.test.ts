import { requeueLost } from '../../src/db/lost-runs.js';
import { EndpointUnavailable } from '../../src/engine/tasks/task.js';
import { at, expectClaimed, times, useRunRows } from '../support/run-rows.js';

const away = (retryAfterMs?: number) => new EndpointUnavailable('The endpoint answered 503', retryAfterMs);

/* The grace for endpoints is 90 s. It is longer than the timeout of the schedules, 60 s, which does not include waiting. */

describe('a run whose endpoint is unavailable', () => {
  const rows = useRunRows();

  it('retries the same attempt with growing delays', async () => {
    const { id, job } = await rows.scheduleDaily();
    const lifecycle = rows.newLifecycle();
    const pauses: number[] = [];
    for (let time = 0; time < 6; time += 1) {
      const claimed = expectClaimed(await lifecycle.claim(job(at)));
      expect(claimed.run.attempts).toBe(1);
      const followed = await lifecycle.postpone(claimed, away());
      if (typeof followed === 'string') throw new Error(followed);
      pauses.push(followed.until - rows.now);
      rows.now = followed.until;
    }
    expect(pauses).toEqual([1_000, 1_000, 1_000, 1_500, 2_250, 3_375]);
    // prettier-ignore
    expect(await rows.getRuns(id)).toEqual([
      { state: 'retrying', reason: 'Waiting for the endpoint since 2030-01-01T00:00:00.000Z: The endpoint answered 503' },
    ]);
  });

  it('waits as long as Retry-After says, up to its grace, and then uses up an attempt', async () => {
    const { id, job } = await rows.scheduleDaily();
    const lifecycle = rows.newLifecycle();
    const first = expectClaimed(await lifecycle.claim(job(at)));
    expect(await lifecycle.postpone(first, away(20_000))).toEqual({ until: at + 20_000 });
    rows.now = at + 20_000;
    const second = expectClaimed(await lifecycle.claim(job(at)));
    expect(await lifecycle.postpone(second, away(86_400_000))).toEqual({ until: at + times.endpointGraceMs });
    rows.now = at + times.endpointGraceMs;
    const third = expectClaimed(await lifecycle.claim(job(at)));
    expect(third.run).toMatchObject({ attempts: 1, unavailableSince: new Date(at) });
    expect(await lifecycle.postpone(third, away(1))).toBe('retry');
    expect(await rows.getRuns(id)).toEqual([
      { state: 'retrying', reason: 'The endpoint answered 503, for 90 s' },
    ]);
    // The next attempt is the last. It has a grace of its own.
    const fourth = expectClaimed(await lifecycle.claim(job(at, 1)));
    expect(fourth.run).toMatchObject({ attempts: 2, unavailableSince: null });
    rows.now += times.endpointGraceMs;
    expect(await lifecycle.postpone(fourth, away())).toMatchObject({ until: rows.now + 1_000 });
    rows.now += times.endpointGraceMs;
    const last = expectClaimed(await lifecycle.claim(job(at, 1)));
    expect(await lifecycle.postpone(last, away())).toBe('failed');
  });

  it('is not postponed by a worker that has lost it, even if the write is repeated', async () => {
    const { id, job } = await rows.scheduleDaily();
    const lifecycle = rows.newLifecycle();
    const first = expectClaimed(await lifecycle.claim(job(at)));
    await lifecycle.postpone(first, away());
    await lifecycle.postpone(first, away());
    const second = expectClaimed(await lifecycle.claim(job(at)));
    expect(second.run.attempts).toBe(1);
    expect(await lifecycle.postpone(first, away())).toBe('void');
    expect(await rows.getRuns(id)).toMatchObject([{ state: 'active' }]);
  });

  it('has a new grace after its worker released it', async () => {
    const { job } = await rows.scheduleDaily();
    const lifecycle = rows.newLifecycle();
    await lifecycle.postpone(expectClaimed(await lifecycle.claim(job(at))), away());
    rows.now += 1_000;
    await lifecycle.handBack(expectClaimed(await lifecycle.claim(job(at))));
    // No worker claims the run for an hour.
    rows.now += 3_600_000;
    const next = expectClaimed(await lifecycle.claim(job(at)));
    expect(next.run).toMatchObject({ attempts: 1, unavailableSince: null });
    expect(await lifecycle.postpone(next, away())).toEqual({ until: rows.now + 1_000 });
  });

  it('has a new grace after it was lost and queued again', async () => {
    const { job } = await rows.scheduleDaily();
    const lifecycle = rows.newLifecycle();
    const first = expectClaimed(await lifecycle.claim(job(at)));
    await lifecycle.postpone(first, away());
    rows.now += times.endpointGraceMs + 3_600_000;
    const until = new Date(rows.now + 60_000);
    await requeueLost(rows.pool, first.run, { now: new Date(rows.now), until, jobId: 'again' });
    const second = expectClaimed(await lifecycle.claim(job(at)));
    expect(second.run).toMatchObject({ attempts: 1, unavailableSince: null });
    expect(await lifecycle.postpone(second, away())).toEqual({ until: rows.now + 1_000 });
  });
});
