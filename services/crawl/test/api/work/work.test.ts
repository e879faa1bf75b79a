import { randomUUID } from 'node:crypto';
import { waitFor } from '@platform/testing';
import { daily } from '../../support/crawls.js';
import { type Platform, startPlatform } from '../../support/platform.js';

/* Workers that pull, through HTTP. The retry delay is 100 ms, and a lease for 30 s, which no test outlasts. */

describe('workers that pull', () => {
  let platform: Platform;
  beforeAll(async () => {
    platform = await startPlatform({ backend: 'postgres', env: { STALLED_INTERVAL_MS: '30000' } });
  });
  afterAll(() => platform.close());
  afterEach(() => platform.call('DELETE', '/schedule/all'));

  const schedule = (more: object = {}) =>
    platform.call('POST', '/files_1/schedule', { body: { scheduleConfig: daily, worker: 'pull', ...more } });
  const run = async (body?: object): Promise<string> => {
    const answer = await platform.call('POST', '/files_1/run', body && { body });
    expect(answer.status).toBe(202);
    return answer.body.data.runId as string;
  };
  /** The lease of the last claim. */
  let lease = '';
  const claim = async (more: object = {}, token = platform.admin.token) => {
    const claimed = await platform.call('POST', '/work/claim', {
      token,
      body: { connectors: ['files_1'], worker: 'test', waitMs: 0, ...more },
    });
    if (claimed.status === 200) lease = claimed.body.lease as string;
    return claimed;
  };
  const createToken = async (scopes: readonly string[]) => {
    const body = { name: `test-${randomUUID()}`, scopes };
    const created = await platform.toIdentity('POST', '/api/v1/personal-access-tokens', { body });
    return created.body.token.accessToken as string;
  };
  const heartbeat = (runId: string, body: object) =>
    platform.call('POST', `/work/${runId}/heartbeat`, { body });
  const finish = (runId: string, body: object) => platform.call('POST', `/work/${runId}/finish`, { body });
  /** Sends a body, and returns the answer, as text: JavaScript would change some of their numbers. */
  const sendText = async (path: string, body: string) => {
    const headers = { authorization: `Bearer ${platform.admin.token}`, 'content-type': 'application/json' };
    const url = `${platform.crawl.url}/api/v1/crawlingManager${path}`;
    const answer = await fetch(url, { method: 'POST', headers, body });
    return { status: answer.status, text: await answer.text() };
  };
  const getRun = async (runId: string) => (await platform.call('GET', `/files_1/runs/${runId}`)).body.data;

  it('claims a run, reports, and finishes it with an event that has its mode and counters', async () => {
    await schedule({ metadata: { folder: 'all' } });
    expect((await claim()).status).toBe(204);
    const runId = await run();
    expect((await claim({ connectors: ['wiki_1'] })).status).toBe(204);
    const claimed = await claim();
    expect([claimed.status, claimed.body]).toEqual([
      200,
      {
        order: expect.objectContaining({
          runId,
          attempt: 1,
          orgId: platform.admin.orgId,
          connector: 'files_1',
          metadata: { folder: 'all' },
          mode: 'full',
          fullStartedAt: expect.any(String),
          checkpoint: null,
        }),
        lease: expect.stringMatching(/^[\w-]{32}$/),
        leaseUntil: expect.any(String),
        deadline: expect.any(String),
      },
    ]);
    expect((await claim()).status).toBe(204);
    const beat = await heartbeat(runId, { lease, progress: 50, counters: { items: 3 }, log: ['page 1'] });
    expect([beat.status, beat.body]).toEqual([200, { leaseUntil: expect.any(String), cancelled: false }]);
    expect(await getRun(runId)).toMatchObject({
      outcome: 'active',
      worker: 'pull',
      progress: 50,
      requestedBy: { id: expect.any(String), name: expect.any(String) },
      items: 3,
      claimedBy: 'test',
      log: [{ message: 'page 1' }],
    });
    const counters = { items: 5, deleted: 1, failed: 2, bytes: 4_096 };
    const last = { lease, state: 'completed', counters, log: ['page 2'] };
    const finished = await finish(runId, last);
    expect([finished.status, finished.body]).toEqual([200, { state: 'completed' }]);
    // Repeated, because the response was lost.
    expect((await finish(runId, last)).body).toEqual({ state: 'completed' });
    const shown = await getRun(runId);
    expect(shown).toMatchObject({
      outcome: 'completed',
      slices: 1,
      ...counters,
      log: [{ message: 'page 1' }, { message: 'page 2' }],
    });
    expect(shown.event.payload).toMatchObject({
      runId,
      mode: 'full',
      fullStartedAt: String(Date.parse(claimed.body.order.fullStartedAt)),
      items: '5',
      bytes: '4096',
    });
    expect((await heartbeat(runId, { lease })).status).toBe(409);
  });

  it('crawls in slices that go on from the checkpoint, with one event after the last', async () => {
    await schedule();
    const runId = await run({ mode: 'full' });
    await claim();
    const slice = {
      lease,
      state: 'continue',
      checkpoint: { page: 1 },
      counters: { items: 10 },
      progress: 30,
    };
    expect((await finish(runId, slice)).body).toEqual({ state: 'waiting' });
    expect(await getRun(runId)).toMatchObject({ items: 10, progress: 30 });
    const second = await claim();
    expect(second.body).toMatchObject({
      order: { runId, attempt: 1, mode: 'full', checkpoint: { page: 1 } },
    });
    // A slice that changes no checkpoint would go on for ever.
    expect((await finish(runId, { lease, state: 'continue', checkpoint: { page: 1 } })).body).toEqual({
      state: 'retrying',
    });
    const reason = 'The slice ended without a new checkpoint';
    expect((await getRun(runId)).attemptLog[1]).toMatchObject({ slice: 2, number: 1, reason });
    const third = await waitFor(
      async () => {
        const answer = await claim();
        return answer.status === 200 && answer;
      },
      { what: 'the retry' },
    );
    expect(third.body).toMatchObject({ order: { attempt: 2, checkpoint: { page: 1 } } });
    await heartbeat(runId, { lease, checkpoint: { page: 2 } });
    expect((await finish(runId, { lease, state: 'continue' })).body).toEqual({ state: 'waiting' });
    const last = await claim();
    expect(last.body.order).toMatchObject({ attempt: 1, checkpoint: { page: 2 } });
    await finish(runId, { lease, state: 'completed', checkpoint: { until: 9 }, counters: { items: 1 } });
    expect(await getRun(runId)).toMatchObject({
      outcome: 'completed',
      slices: 3,
      items: 11,
      attemptLog: [
        { slice: 1, number: 1, outcome: 'completed', reason: null },
        { slice: 2, number: 1, outcome: 'failed', reason },
        { slice: 2, number: 2, outcome: 'completed', reason: null },
        { slice: 3, number: 1, outcome: 'completed', reason: null },
      ],
    });
    const events = await platform.db.query('select from outbox.events where cause = $1', [runId]);
    expect(events.rowCount).toBe(1);
    // The next run goes on from there; a replacement keeps the checkpoint, and a reset forgets it.
    await schedule({ maxRetries: 0 });
    const next = await run();
    expect((await claim()).body.order).toMatchObject({
      runId: next,
      mode: 'incremental',
      checkpoint: { until: 9 },
    });
    // A failed run keeps what its worker has reported.
    expect(
      (await finish(next, { lease, state: 'failed', reason: 'no', checkpoint: { until: 10 } })).body,
    ).toEqual({ state: 'failed' });
    const after = await run();
    expect((await claim()).body.order).toMatchObject({ mode: 'incremental', checkpoint: { until: 10 } });
    const refused = await platform.call('DELETE', '/files_1/checkpoint');
    expect([refused.status, refused.body.error.code]).toEqual([409, 'RUN_IN_PROGRESS']);
    expect((await finish(after, { lease, state: 'completed' })).status).toBe(200);
    expect((await platform.call('DELETE', '/files_1/checkpoint')).status).toBe(200);
    await run();
    expect((await claim()).body.order).toMatchObject({ mode: 'full', checkpoint: null });
  });

  it('passes a checkpoint on as the text that came, whose numbers JavaScript cannot hold', async () => {
    await schedule();
    const runId = await run();
    const toCheckpoint = (cursor: string) => `{ "cursor":${cursor}, "b":1.10,"a":["\\u00e9\\/",1e400,-0]}`;
    for (const [cursor, path, more] of [
      ['1234567890123456788', 'finish', ', "state": "continue"'],
      ['1234567890123456789', 'finish', ', "state": "continue"'],
      ['1234567890123456790', 'heartbeat', ''],
    ] as const) {
      await claim();
      const body = `{"lease":"${lease}","checkpoint" : ${toCheckpoint(cursor)}${more}}`;
      const answer = await sendText(`/work/${runId}/${path}`, body);
      expect([cursor, answer.status, answer.text]).toEqual([
        cursor,
        200,
        expect.not.stringContaining('retrying'),
      ]);
    }
    await finish(runId, { lease, state: 'released' });
    const claimed = await sendText('/work/claim', '{"connectors":["files_1"],"worker":"test"}');
    expect([claimed.status, claimed.text]).toEqual([
      200,
      expect.stringContaining(`"checkpoint":${toCheckpoint('1234567890123456790')}`),
    ]);
    const order = (JSON.parse(claimed.text) as { lease: string; order: object }).order;
    expect(order).toMatchObject({ runId, metadata: {}, scheduleConfig: daily });
  });

  it('refuses counters and metadata with numbers that JavaScript cannot hold', async () => {
    await schedule({ metadata: { kept: [0.1, 1e21, 9_007_199_254_740_991] } });
    const runId = await run();
    await claim();
    for (const number of ['9007199254740993', '1e400', '-1', '1.5']) {
      const answer = await sendText(
        `/work/${runId}/heartbeat`,
        `{"lease":"${lease}","counters":{"items":${number}}}`,
      );
      expect([number, answer.status]).toEqual([number, 400]);
    }
    for (const number of ['1234567890123456789', '1e400', '0.12345678901234567890']) {
      const body = `{"scheduleConfig":${JSON.stringify(daily)},"metadata":{"a":[{"b":${number}}]}}`;
      const answer = await sendText('/files_1/schedule', body);
      expect([answer.status, answer.text]).toEqual([400, expect.stringContaining(`the number ${number},`)]);
    }
    const shown = await platform.call('GET', '/files_1/schedule');
    expect(shown.body.data.data.metadata).toEqual({ kept: [0.1, 1e21, 9_007_199_254_740_991] });
  });

  it('CRAWL-71 passes on what a worker says of its source, in the next runs as well, and refuses what cannot be read', async () => {
    const factsOf = async (runId: string) =>
      (
        await platform.db.query<{ source: object | null }>(
          `select data -> 'source' as source from facts where type = 'crawl.run.completed' and data ->> 'runId' = $1`,
          [runId],
        )
      ).rows;
    await schedule();
    const first = await run();
    await claim();
    const source = {
      description: 'The folder /srv/handbook',
      documents: 120,
      newestAt: '2026-11-27T07:58:12.000Z',
    };
    for (const wrong of [
      { description: '' },
      { description: 'a\u202Eb' },
      { description: 'x'.repeat(301) },
      { description: 'a', documents: -1 },
      { description: 'a', oldestAt: 'yesterday' },
      { description: 'a', password: 'b' },
      { documents: 1 },
    ])
      expect((await heartbeat(first, { lease, source: wrong })).status).toBe(400);
    const foreign = await heartbeat(first, { lease: 'of-nobody', source: { description: 'a lie' } });
    expect(foreign.status).toBe(409);
    expect((await heartbeat(first, { lease, source })).status).toBe(200);
    await finish(first, { lease, state: 'completed' });
    expect(await factsOf(first)).toEqual([{ source }]);
    const second = await run();
    await claim();
    await finish(second, { lease, state: 'completed' });
    expect(await factsOf(second)).toEqual([{ source }]);
    const third = await run();
    await claim();
    await finish(third, { lease, state: 'completed', source: { description: 'Another folder' } });
    expect(await factsOf(third)).toEqual([{ source: { description: 'Another folder' } }]);
  });

  it('keeps what the heartbeat reports that learns of a pause or a cancellation', async () => {
    await schedule();
    for (const [page, stop] of [
      [1, (runId: string) => platform.call('POST', `/files_1/runs/${runId}/cancel`)],
      [2, () => platform.call('POST', '/files_1/pause')],
    ] as const) {
      const runId = await run();
      expect((await claim()).body.order.checkpoint).toEqual(page === 1 ? null : { page: page - 1 });
      expect((await stop(runId)).status).toBe(200);
      const report = { lease, checkpoint: { page }, counters: { items: page }, log: [`page ${page}`] };
      expect((await heartbeat(runId, report)).body).toMatchObject({ cancelled: true });
      // Repeated, because the response was lost.
      expect((await heartbeat(runId, { lease, counters: { items: page } })).body.cancelled).toBe(true);
      expect(await getRun(runId)).toMatchObject({
        outcome: 'aborted',
        items: page,
        log: [{ message: `page ${page}` }],
      });
    }
    await platform.call('POST', '/files_1/resume');
    const resumed = await run();
    const stopped = { runId: resumed, lease: (await claim()).body.lease as string };
    await platform.call('POST', `/files_1/runs/${resumed}/cancel`);
    // A slice that ends after all is not ended, but its checkpoint is kept.
    const last = { lease, state: 'continue', checkpoint: { page: 3 } };
    expect((await finish(resumed, last)).body.error.code).toBe('LEASE_LOST');
    const next = await run();
    expect((await claim()).body.order.checkpoint).toEqual({ page: 3 });
    // The later run has gone on from there.
    const late = { lease: stopped.lease, checkpoint: { page: 9 }, counters: { items: 9 } };
    const refused = await heartbeat(stopped.runId, late);
    expect([refused.status, refused.body.error.code]).toEqual([409, 'LEASE_LOST']);
    expect(await getRun(stopped.runId)).toMatchObject({ items: 0 });
    await platform.call('POST', `/files_1/runs/${next}/cancel`);
    // Nor does a late report bring back what was forgotten.
    expect((await platform.call('DELETE', '/files_1/checkpoint')).status).toBe(200);
    expect((await heartbeat(next, { lease, checkpoint: { page: 4 } })).status).toBe(409);
    const removed = await run();
    expect((await claim()).body.order.checkpoint).toBeNull();
    await platform.call('DELETE', '/files_1/schedule');
    expect((await heartbeat(removed, { lease, checkpoint: { page: 5 } })).status).toBe(409);
    expect((await heartbeat(removed, { lease })).body.cancelled).toBe(true);
    await schedule();
    await run();
    expect((await claim()).body.order.checkpoint).toBeNull();
  });

  it('counts no further than the largest safe integer', async () => {
    await schedule();
    const runId = await run();
    const bytes = Number.MAX_SAFE_INTEGER;
    for (let checkpoint = 1; checkpoint <= 2; checkpoint += 1) {
      await claim();
      await finish(runId, { lease, state: 'continue', checkpoint, counters: { bytes } });
    }
    await claim();
    expect((await finish(runId, { lease, state: 'completed', counters: { bytes } })).status).toBe(200);
    const shown = await getRun(runId);
    expect([shown.bytes, shown.event.payload.bytes]).toEqual([bytes, String(bytes)]);
  });

  it('a failure that is not worth a retry ends the run, whatever attempts are left', async () => {
    await schedule({ maxRetries: 3 });
    const runId = await run();
    await claim();
    const refused = await finish(runId, { lease, state: 'failed', retry: 'no' });
    expect(refused.status).toBe(400);
    const reason = 'The password is wrong';
    const finished = await finish(runId, { lease, state: 'failed', reason, retry: false });
    expect([finished.status, finished.body]).toEqual([200, { state: 'failed' }]);
    expect(await getRun(runId)).toMatchObject({
      outcome: 'failed',
      reason,
      attemptLog: [{ number: 1, outcome: 'failed', reason }],
    });
    const next = await run();
    await claim();
    expect((await finish(next, { lease, state: 'failed', retry: true })).body).toEqual({ state: 'retrying' });
  });

  it('a full crawl that failed for good is continued by the next run, unless a full one is asked for', async () => {
    await schedule({ maxRetries: 0 });
    const first = await run();
    const started = (await claim()).body.order.fullStartedAt as string;
    await finish(first, { lease, state: 'failed', checkpoint: 'half' });
    // An incremental crawl would end the full one before it has seen everything.
    const second = await run({ mode: 'incremental' });
    expect((await claim()).body.order).toMatchObject({
      mode: 'full',
      checkpoint: 'half',
      fullStartedAt: started,
    });
    await finish(second, { lease, state: 'failed' });
    await run({ mode: 'full' });
    const restarted = (await claim()).body.order;
    expect(restarted).toMatchObject({ mode: 'full', checkpoint: null });
    expect(restarted.fullStartedAt).not.toBe(started);
    // A full crawl that was begun after another had been completed is continued, too.
    await finish(restarted.runId, { lease, state: 'completed' });
    const third = await run({ mode: 'full' });
    await claim();
    await finish(third, { lease, state: 'failed', checkpoint: 'third' });
    await run();
    expect((await claim()).body.order).toMatchObject({ mode: 'full', checkpoint: 'third' });
  });

  it('a run wakes a waiting worker, and a worker that has disconnected claims none', async () => {
    await schedule();
    const waiting = claim({ waitMs: 30_000 });
    const gone = new AbortController();
    const abandoned = fetch(`${platform.crawl.url}/api/v1/crawlingManager/work/claim`, {
      method: 'POST',
      headers: { authorization: `Bearer ${platform.admin.token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ connectors: ['files_1'], worker: 'gone', waitMs: 30_000 }),
      signal: gone.signal,
    }).catch(() => undefined);
    await new Promise((resolve) => setTimeout(resolve, 300));
    gone.abort();
    await abandoned;
    const startedAt = performance.now();
    const runId = await run();
    expect((await waiting).body).toMatchObject({ order: { runId } });
    expect(performance.now() - startedAt).toBeLessThan(5_000);
    expect((await getRun(runId)).claimedBy).toBe('test');
    expect((await finish(runId, { lease, state: 'released' })).body).toEqual({ state: 'waiting' });
    expect((await claim()).body).toMatchObject({ order: { runId, attempt: 1 } });
  });

  it('a cancelled run is reported to its worker, and a lost one belongs to the next', async () => {
    await schedule();
    const cancelled = await run();
    await claim();
    expect((await platform.call('POST', `/files_1/runs/${cancelled}/cancel`)).status).toBe(200);
    expect((await heartbeat(cancelled, { lease })).body).toMatchObject({ cancelled: true });
    expect((await finish(cancelled, { lease, state: 'completed' })).status).toBe(409);

    const lost = await run();
    await claim({ worker: 'first' });
    await heartbeat(lost, { lease, checkpoint: 7, counters: { items: 2 } });
    const old = lease;
    await platform.db.query(
      `update runs set due_at = now() - interval '1 s', heartbeat_until = now() - interval '1 s' where id = $1`,
      [lost],
    );
    const next = await claim({ worker: 'second', waitMs: 10_000 });
    expect(next.body).toMatchObject({ order: { runId: lost, attempt: 1, checkpoint: 7 } });
    const answers = [
      await heartbeat(lost, { lease: old, checkpoint: 'old' }),
      await finish(lost, { lease: old, state: 'completed', checkpoint: 'old' }),
    ];
    expect(answers.map(({ status, body }) => [status, body.error.code])).toEqual([
      [409, 'LEASE_LOST'],
      [409, 'LEASE_LOST'],
    ]);
    expect(await getRun(lost)).toMatchObject({ outcome: 'active', claimedBy: 'second', items: 2 });
  });

  it('a slice that takes longer than the timeout has failed', async () => {
    await schedule({ timeout: 1_000 });
    const runId = await run();
    await claim();
    await platform.db.query(
      `update runs set deadline_at = now(), due_at = now(), heartbeat_until = null where id = $1`,
      [runId],
    );
    expect((await heartbeat(runId, { lease })).body.error.code).toBe('LEASE_LOST');
    const next = await claim({ waitMs: 20_000 });
    expect(next.body).toMatchObject({ order: { runId, attempt: 2 } });
    const { rows } = await platform.db.query('select recoveries from runs where id = $1', [runId]);
    expect(rows).toEqual([{ recoveries: 0 }]);
    expect((await getRun(runId)).attemptLog[0]).toMatchObject({ reason: 'Timed out after 1000 ms' });
  });

  it('a slice that was released, or lost its worker, has its whole time when the next worker comes late', async () => {
    await schedule({ timeout: 60_000 });
    const runId = await run();
    await claim();
    const pass = (time: string) =>
      platform.db.query(
        `update runs set deadline_at = deadline_at - $2::interval, due_at = due_at - $2::interval,
           heartbeat_until = heartbeat_until - $2::interval where id = $1`,
        [runId, time],
      );
    expect((await finish(runId, { lease, state: 'released' })).status).toBe(200);
    await pass('5 min');
    const second = await claim();
    expect(second.body).toMatchObject({ order: { runId, attempt: 1 } });
    await heartbeat(runId, { lease });
    await pass('5 min');
    const third = await claim({ waitMs: 20_000 });
    expect(third.body).toMatchObject({ order: { runId, attempt: 1 } });
    expect(Date.parse(third.body.deadline as string)).toBeGreaterThan(Date.now() + 30_000);
  });

  it('a lease is random, stored as a hash, and valid for the credential that claimed alone', async () => {
    await schedule();
    const runId = await run();
    const [first, second] = [await createToken(['crawl:work']), await createToken(['crawl:work'])];
    const report = (path: string, token: string, body: object) =>
      platform.call('POST', `/work/${runId}/${path}`, { token, body });
    const slice = { state: 'continue', checkpoint: 'mine' };
    const expectRefusals = async (others: readonly (readonly [token: string, lease: string])[]) => {
      for (const [token, given] of others)
        for (const [path, more] of [
          ['heartbeat', { checkpoint: 'theirs', counters: { items: 7 }, log: ['theirs'] }],
          ['finish', { ...slice, checkpoint: 'theirs' }],
          ['finish', { state: 'completed' }],
        ] as const) {
          const answer = await report(path, token, { lease: given, ...more });
          expect([path, answer.status, answer.body.error.code]).toEqual([path, 409, 'LEASE_LOST']);
        }
      expect(await getRun(runId)).toMatchObject({ outcome: 'active', items: 0, log: [] });
    };
    await claim({}, first);
    const leaseOfFirst = lease;
    const stored = await platform.db.query<{ row: string }>(
      'select to_jsonb(runs)::text as row from runs where id = $1',
      [runId],
    );
    expect(stored.rows[0]?.row).not.toContain(lease);
    await expectRefusals([
      [second, lease],
      [platform.admin.token, lease],
      [first, 'x'.repeat(32)],
      [first, '1'],
    ]);
    expect((await report('finish', first, { lease, ...slice })).body).toEqual({ state: 'waiting' });
    await claim({}, second);
    expect(lease).not.toBe(leaseOfFirst);
    await expectRefusals([
      [first, lease],
      [second, leaseOfFirst],
      [first, `${leaseOfFirst}x`],
    ]);
    // The response was lost, and another worker has claimed the run meanwhile: nothing changes.
    expect((await report('finish', first, { lease: leaseOfFirst, ...slice })).body).toEqual({
      state: 'active',
    });
    expect((await report('finish', second, { lease, state: 'completed' })).body).toEqual({
      state: 'completed',
    });
    await run();
    expect((await claim()).body.order).toMatchObject({ checkpoint: 'mine' });
  });

  it('is refused for the runs of other organisations, without its scope, and with a checkpoint that is too large', async () => {
    await schedule();
    const runId = await run();
    const other = await platform.createOrganisation();
    expect((await claim({}, other.token)).status).toBe(204);
    await claim();
    for (const [path, body] of [
      ['heartbeat', { lease }],
      ['finish', { lease, state: 'completed' }],
    ] as const)
      expect(
        (await platform.call('POST', `/work/${runId}/${path}`, { token: other.token, body })).status,
      ).toBe(404);
    expect((await heartbeat(runId, { lease, checkpoint: 'x'.repeat(65_536) })).status).toBe(400);
    expect((await heartbeat(runId, { lease, checkpoint: '\u0000' })).status).toBe(400);
    expect((await heartbeat(runId, { lease, checkpoint: 'x'.repeat(65_000) })).status).toBe(200);
    expect((await claim({}, await createToken(['crawl:read', 'crawl:write']))).status).toBe(403);
  });
});
