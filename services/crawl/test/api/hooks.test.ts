import { createHmac, randomUUID } from 'node:crypto';
import { callUrl, waitFor } from '@platform/testing';
import { daily, onceIn } from '../support/crawls.js';
import { type Organisation, type Platform, startPlatform } from '../support/platform.js';

/* Hooks: who makes them, how a request is verified, and which runs follow. */

const DELAY_MS = 300;
const body = '{"ref": "refs/heads/main"}';

interface Hook {
  readonly hookId: string;
  readonly path: string;
  readonly secret: string;
}

describe('hooks of a connector', () => {
  let platform: Platform;
  let other: Organisation;
  beforeAll(async () => {
    platform = await startPlatform({
      backend: 'postgres',
      env: {
        HOOK_DELAY_MS: String(DELAY_MS),
      },
    });
    other = await platform.createOrganisation();
  });
  afterAll(() => platform.close());
  beforeEach(() =>
    platform.call('POST', '/code_1/schedule', { body: { scheduleConfig: daily, worker: 'pull' } }),
  );
  afterEach(async () => {
    await platform.call('DELETE', '/schedule/all');
    await platform.db.query('truncate hooks, runs cascade');
  });

  const create = async (kind: string, more: object = {}, path = '/code_1'): Promise<Hook> => {
    const answer = await platform.call('POST', `${path}/hooks`, { body: { kind, ...more } });
    if (answer.status !== 201) throw new Error(answer.text);
    return answer.body.data;
  };
  const send = (path: string, headers: Record<string, string>, raw = body, url = platform.crawl.url) =>
    callUrl(url + path, 'POST', { raw, headers: { 'content-type': 'application/json', ...headers } });
  const ring = ({ path, secret }: Hook) => send(path, { authorization: `Bearer ${secret}` });
  const listRuns = async (path = '/code_1') => (await platform.call('GET', `${path}/runs`)).body.data;
  const waitForRuns = (count: number) =>
    waitFor(
      async () => {
        const runs = await listRuns();
        return runs.length === count && runs;
      },
      { what: `${count} runs` },
    );
  const claim = async () =>
    (
      await platform.call('POST', '/work/claim', {
        body: { connectors: ['code_1'], worker: 'test', waitMs: 5_000 },
      })
    ).body;
  /** Completes the run in progress. A busy machine may have cost the lease before. */
  const complete = (claimed?: Awaited<ReturnType<typeof claim>>) => {
    let work = claimed;
    return waitFor(
      async () => {
        work ??= await claim();
        const path = `/work/${work.order.runId}/finish`;
        const { status } = await platform.call('POST', path, {
          body: { lease: work.lease, state: 'completed' },
        });
        work = undefined;
        return status === 200;
      },
      { what: 'the end of the run' },
    );
  };
  const countPending = async (condition = 'ring_due_at is not null') =>
    (await platform.db.query(`select from schedules where ${condition}`)).rowCount;

  it('are made, listed and removed by administrators alone, and show their secret once', async () => {
    const hook = await create('github', { description: 'The code' });
    const { secret, ...item } = hook;
    expect(item).toMatchObject({
      kind: 'github',
      description: 'The code',
      rotatedAt: null,
      lastRungAt: null,
    });
    expect(item.path).toBe(`/api/v1/crawlingManager/hooks/${item.hookId}`);
    const { rows } = await platform.db.query<{ row: string }>('select hooks::text as row from hooks');
    expect(rows[0]?.row).not.toContain(secret);
    expect((await platform.call('GET', '/code_1/hooks')).body.data).toEqual([item]);
    expect((await platform.call('GET', '/code_1/instances/default/hooks')).body.data).toEqual([item]);
    for (const path of ['/wiki_1/hooks', '/code_1/instances/hr/hooks'])
      expect((await platform.call('GET', path)).body.data).toEqual([]);
    const foreign = { token: other.token };
    expect((await platform.call('GET', '/code_1/hooks', foreign)).body.data).toEqual([]);
    for (const [path, options] of [
      [`/code_1/hooks/${hook.hookId}`, foreign],
      [`/wiki_1/hooks/${hook.hookId}`, {}],
      [`/code_1/hooks/${randomUUID()}`, {}],
    ] as const) {
      expect((await platform.call('DELETE', path, options)).status).toBe(404);
      expect((await platform.call('POST', `${path}/rotate`, options)).status).toBe(404);
    }
    const missing = await platform.call('POST', '/code_1/instances/hr/hooks', { body: { kind: 'github' } });
    expect(missing.status).toBe(404);
    for (let count = 1; count < 10; count += 1) await create('bearer');
    const refused = await platform.call('POST', '/code_1/hooks', { body: { kind: 'github' } });
    expect([refused.status, refused.body.error.code]).toEqual([409, 'TOO_MANY_HOOKS']);
    expect((await platform.call('DELETE', `/code_1/hooks/${hook.hookId}`)).status).toBe(200);
    expect((await platform.call('GET', '/code_1/hooks')).body.data).toHaveLength(9);
    expect(platform.crawl.logged()).not.toContain(secret);
  });

  const toGitHub = (secret: string, text = body) => ({
    'x-hub-signature-256': `sha256=${createHmac('sha256', secret).update(text).digest('hex')}`,
  });
  const toStandard = (secret: string, at = Date.now(), text = body) => {
    const timestamp = String(Math.floor(at / 1_000));
    const key = Buffer.from(secret.replace('whsec_', ''), 'base64');
    const signature = createHmac('sha256', key).update(`msg_1.${timestamp}.${text}`).digest('base64');
    const signatures = `v1a,x v1,${Buffer.alloc(32).toString('base64')} v1,${signature}`;
    return { 'webhook-id': 'msg_1', 'webhook-timestamp': timestamp, 'webhook-signature': signatures };
  };

  it.each<[string, (secret: string) => Record<string, string>, (secret: string) => readonly Record<string, string>[]]>([
    ['github', toGitHub, (secret) => [
      toGitHub(secret, '{}'),
      { 'x-hub-signature-256': 'sha256=' },
      { 'x-hub-signature': 'sha1=0' },
      { 'x-gitlab-token': secret },
    ]],
    ['gitlab', (secret) => ({ 'x-gitlab-token': secret }), (secret) => [{ 'x-gitlab-token': `${secret}x` }, { 'x-gitlab-token': '' }]],
    ['standard_webhooks', toStandard, (secret) => [
      toStandard(secret, Date.now(), '{}'),
      toStandard(secret, Date.now() - 301_000),
      toStandard(secret, Date.now() + 302_000),
      { ...toStandard(secret), 'webhook-id': 'msg_2' },
      { ...toStandard(secret), 'webhook-timestamp': 'now' },
      { ...toStandard(secret), 'webhook-signature': 'v1,' },
    ]],
    ['bearer', (secret) => ({ authorization: `Bearer ${secret}` }), (secret) => [
      { authorization: `Basic ${secret}` },
      { authorization: 'Bearer' },
      { authorization: `Bearer ${secret.slice(1)}` },
    ]],
  ])('of the kind %s accept what the secret verifies, and nothing else', async (kind, sign, toInvalid) => {
    const hook = await create(kind);
    const wrong = await create(kind);
    const foreign = await send(hook.path, sign(wrong.secret));
    const refusals = [foreign, await send(hook.path, {}), await send(`${hook.path}x`, sign(hook.secret))];
    for (const headers of toInvalid(hook.secret)) refusals.push(await send(hook.path, headers));
    expect([await countPending(), await listRuns()]).toEqual([0, []]);
    refusals.push(await send(hook.path.replace(hook.hookId, randomUUID()), sign(hook.secret)));
    const { status, text, body: accepted } = await send(hook.path, sign(hook.secret));
    expect([status, accepted]).toEqual([202, { success: true, message: 'Accepted' }]);
    await waitForRuns(1);
    await platform.call('DELETE', '/code_1/schedule');
    refusals.push(await send(hook.path, sign(hook.secret)));
    for (const refusal of refusals) expect([refusal.status, refusal.text]).toEqual([401, foreign.text]);
    expect(foreign.text).not.toBe(text);
  }); // oxfmt-ignore

  it('take a body of any type and of 25 MiB, and none', async () => {
    const hook = await create('github');
    const large = 'x'.repeat(25 * 1_048_576);
    const form = { 'content-type': 'application/x-www-form-urlencoded' };
    expect((await send(hook.path, { ...toGitHub(hook.secret), ...form })).status).toBe(202);
    expect((await send(hook.path, toGitHub(hook.secret, large), large)).status).toBe(202);
    const larger = `${large}x`;
    expect((await send(hook.path, toGitHub(hook.secret, larger), larger)).status).toBe(413);
    const empty = await callUrl(platform.crawl.url + hook.path, 'POST', {
      headers: toGitHub(hook.secret, ''),
    });
    expect(empty.status).toBe(202);
  });

  it('accept both secrets for a day after a rotation, and a secret that the source has made', async () => {
    const hook = await create('bearer');
    const rotate = async (given?: object) =>
      (await platform.call('POST', `/code_1/hooks/${hook.hookId}/rotate`, { body: given })).body.data as Hook;
    const second = await rotate();
    expect((await ring(hook)).status).toBe(202);
    expect((await ring(second)).status).toBe(202);
    const third = await rotate({ secret: 'made-by-the-source' });
    expect(third.secret).toBe('made-by-the-source');
    expect((await ring(hook)).status).toBe(401);
    expect((await ring(second)).status).toBe(202);
    await platform.db.query("update hooks set rotated_at = rotated_at - interval '1 day'");
    expect((await ring(second)).status).toBe(401);
    expect((await ring(third)).status).toBe(202);
    const standard = { kind: 'standard_webhooks', secret: 'made-by-the-source' };
    const refused = await platform.call('POST', '/code_1/hooks', { body: standard });
    expect([refused.status, refused.body.error.details]).toEqual([400, expect.stringMatching(/^secret: /)]);
  });

  it('are reported at the start of a service that has lost the key of their secrets', async () => {
    await create('bearer');
    await create('bearer');
    const keyless = await platform.addCrawl({
      ENCRYPTION_KEYS: `k9:${Buffer.alloc(32, 9).toString('base64')}`,
    });
    const report = await waitFor(() => /.*ENCRYPTION_KEYS lack a key.*/.exec(keyless.logged())?.[0], {
      what: 'the report',
    });
    expect(JSON.parse(report)).toMatchObject({ key: 'k1', values: 2 });
    await keyless.stop();
    expect(platform.crawl.logged()).not.toContain('ENCRYPTION_KEYS lack');
  });

  it('make one run of 20 rings at once on two replicas, and one more of the rings during it', async () => {
    const second = await platform.addCrawl();
    const hooks = [await create('bearer'), await create('bearer')] as const;
    const ringAll = () =>
      Promise.all(
        Array.from({ length: 20 }, (_, index) => {
          const { path, secret } = hooks[index % 2] as Hook;
          const url = index % 3 === 0 ? second.url : platform.crawl.url;
          return send(path, { authorization: `Bearer ${secret}` }, body, url);
        }),
      );
    expect(new Set((await ringAll()).map(({ status }) => status))).toEqual(new Set([202]));
    const [run] = await waitForRuns(1);
    expect(run).toMatchObject({ trigger: 'hook', requestedBy: null, mode: 'full' });
    const claimed = await claim();
    await ringAll();
    // The dispatcher looks at it every second.
    await waitFor(() => countPending(`ring_due_at < now() - interval '1500 ms'`), { what: 'time' });
    expect(await listRuns()).toHaveLength(1);
    await complete(claimed);
    await waitForRuns(2);
    await complete();
    expect(await countPending()).toBe(0);
    const runs = await listRuns();
    expect(runs.map(({ trigger, outcome }: Record<string, string>) => [trigger, outcome])).toEqual([
      ['hook', 'completed'],
      ['hook', 'completed'],
    ]);
    await second.stop();
  });

  it('leave a paused schedule paused, and rings before and during the pause ask for nothing later', async () => {
    const hook = await create('bearer');
    await ring(hook);
    await platform.call('POST', '/code_1/pause');
    expect((await ring(hook)).status).toBe(202);
    await platform.call('POST', '/code_1/resume');
    expect([await countPending(), await listRuns()]).toEqual([0, []]);
    const [item] = (await platform.call('GET', '/code_1/hooks')).body.data;
    expect(item.lastRungAt).not.toBeNull();
  });

  it('accept 60 rings a minute', async () => {
    const hook = await create('bearer');
    const answers = await Promise.all(Array.from({ length: 70 }, () => ring(hook)));
    const count = (wanted: number) => answers.filter(({ status }) => status === wanted).length;
    expect([count(202), count(429)]).toEqual([60, 10]);
    const limited = answers.find(({ status }) => status === 429);
    expect(Number(limited?.headers.get('retry-after'))).toBeGreaterThan(30);
    expect((await ring(await create('bearer'))).status).toBe(202);
    // The limit shows nothing to those who do not know the secret.
    expect((await ring({ ...hook, secret: 'wrong' })).status).toBe(401);
    await platform.db.query("update hooks set minute_started_at = minute_started_at - interval '1 minute'");
    expect((await ring(hook)).status).toBe(202);
  });

  it('follow a finished one-off schedule, and go with their instance', async () => {
    await platform.call('PUT', '/wiki_1/instances/hr', { body: { displayName: 'HR' } });
    const path = '/wiki_1/instances/hr';
    const schedule = () =>
      platform.call('POST', `${path}/schedule`, { body: { scheduleConfig: onceIn(700) } });
    await waitFor(async () => (await schedule()).status === 201, { what: 'the schedule' });
    const hook = await create('bearer', {}, path);
    const waitForOutcomes = (expected: readonly string[]) =>
      waitFor(
        async () => {
          const runs = await listRuns(path);
          // A busy machine makes the run of the schedule a missed one.
          const found = runs.map(({ trigger, outcome }: Record<string, string>) =>
            trigger === 'missed' ? `schedule ${outcome}` : `${trigger} ${outcome}`,
          );
          return JSON.stringify(found) === JSON.stringify(expected);
        },
        { what: expected.join() },
      );
    await waitForOutcomes(['schedule completed']);
    await ring(hook);
    await waitForOutcomes(['hook completed', 'schedule completed']);
    await Promise.all([platform.call('DELETE', path), ...Array.from({ length: 10 }, () => ring(hook))]);
    expect((await platform.db.query('select from hooks')).rowCount).toBe(0);
    expect((await ring(hook)).status).toBe(401);
  });
});
