import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { serve } from '@platform/crawl-worker';
import { callUrl, describeWith, waitFor } from '@platform/testing';
import { makeDataDir, type Platform, printed, startPlatform } from '../platform.js';

/* CRAWL-45: the worker kits of both languages, through the gateway. A lease lasts for 5 s. */

const START_MS = 180_000;
const CRAWL = '/api/v1/crawlingManager';
const KIT = resolve(import.meta.dirname, '../../../crawl-worker/python');
const AIRBYTE = resolve(import.meta.dirname, '../../../crawl-worker/dist/main.js');
const fixture = (name: string) => join(import.meta.dirname, '../fixtures', name);

interface Worker {
  readonly child: ChildProcess;
  readonly exited: Promise<number | null>;
  logged(): string;
}

let dataDir: Awaited<ReturnType<typeof makeDataDir>>;
let platform: Platform;
let session: string;
let token: string;
let pagesFile: string;
const workers: Worker[] = [];

const call = (method: string, path: string, body?: object) =>
  callUrl(`http://127.0.0.1:${platform.port}${path}`, method, { token: session, ...(body && { body }) });

beforeAll(async () => {
  dataDir = await makeDataDir();
  platform = await startPlatform({
    dataDir: dataDir.path,
    env: { STALLED_INTERVAL_MS: '1000', OVERDUE_GRACE_MS: '1000', RETRY_DELAY_MS: '100' },
  });
  await platform.settled;
  const admin = { email: printed(platform, 'Admin'), password: printed(platform, 'Password') };
  session = (await call('POST', '/api/v1/auth/login', admin)).body.accessToken;
  const body = { name: 'worker', scopes: ['crawl:work'] };
  token = (await call('POST', '/api/v1/personal-access-tokens', body)).body.token.accessToken;
  pagesFile = join(dirname(dataDir.path), 'pages');
}, START_MS);
afterAll(async () => {
  platform.child.kill('SIGTERM');
  await platform.exited;
  await dataDir.remove();
});

type Language = 'TypeScript' | 'Python';

function startWorker(language: Language, name: string, workerToken = token, env: object = {}): Worker {
  const command: [string, string] =
    language === 'Python' ? ['python3', fixture('worker.py')] : [process.execPath, fixture('worker.mjs')];
  const child = spawn(command[0], [command[1]], {
    env: {
      PATH: process.env['PATH'],
      PYTHONPATH: KIT,
      PYTHONDONTWRITEBYTECODE: '1',
      PLATFORM_URL: `http://127.0.0.1:${platform.port}`,
      PLATFORM_TOKEN: workerToken,
      WORKER: name,
      PAGES_FILE: pagesFile,
      ...env,
    },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let logged = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    logged += text;
  });
  const exited = once(child, 'exit').then(([code]) => code as number | null);
  const worker = { child, exited, logged: () => logged };
  workers.push(worker);
  return worker;
}

/** Schedules the connector, which forgets its state, and requests a run. */
async function requestRun(metadata: object, options: object = {}): Promise<string> {
  await call('DELETE', `${CRAWL}/wiki_1/schedule`);
  await writeFile(pagesFile, '');
  const scheduleConfig = { scheduleType: 'daily', hour: 2, minute: 15 };
  await call('POST', `${CRAWL}/wiki_1/schedule`, { scheduleConfig, worker: 'pull', metadata, ...options });
  return (await call('POST', `${CRAWL}/wiki_1/run`)).body.data.runId as string;
}
const getRun = async (runId: string) => (await call('GET', `${CRAWL}/wiki_1/runs/${runId}`)).body.data;
const waitForRun = (
  runId: string,
  what: string,
  isMet: (run: Awaited<ReturnType<typeof getRun>>) => boolean,
) =>
  waitFor(
    async () => {
      const run = await getRun(runId);
      return isMet(run) && run;
    },
    { what },
  );
const waitForOutcome = (runId: string, outcome: string) =>
  waitForRun(runId, `the outcome ${outcome}`, (run) => run.outcome === outcome);
const readPages = async () => (await readFile(pagesFile, 'utf8')).trim().split('\n').map(Number);
const upTo = (count: number) => Array.from({ length: count }, (_, index) => index + 1);

function testKit(language: Language): void {
  afterEach(async () => {
    for (const { child, exited } of workers.splice(0)) {
      child.kill('SIGKILL');
      await exited;
    }
  });

  test('crawls in slices, with counters, progress and log, and one event', async () => {
    startWorker(language, 'one');
    const runId = await requestRun({ pages: 30, pagesPerSlice: 10, pauseMs: 5 });
    const run = await waitForOutcome(runId, 'completed');
    expect(run).toMatchObject({ slices: 3, items: 30, bytes: 300, claimedBy: 'one', progress: 100 });
    expect(run.log.map(({ message }: { message: string }) => message)).toEqual([
      'Begins after page 0',
      'Begins after page 10',
      'Begins after page 20',
    ]);
    expect(run.event.payload).toMatchObject({ runId, items: '30' });
    expect(await readPages()).toEqual(upTo(30));
  });

  test('a failed attempt is shown with its message, and the next one goes on from the checkpoint', async () => {
    startWorker(language, 'one');
    const runId = await requestRun({ pages: 30, failAt: 15, pauseMs: 5 });
    const run = await waitForOutcome(runId, 'completed');
    expect(run.attemptLog[0].reason).toBe('The source is unavailable');
    expect(run.items).toBe(30);
    expect(await readPages()).toEqual(upTo(30));
  });

  test('a failure that is not worth a retry ends the run', async () => {
    startWorker(language, 'one');
    const runId = await requestRun({ pages: 30, refuseAt: 2, pauseMs: 5 });
    const run = await waitForOutcome(runId, 'failed');
    expect(run.attemptLog).toMatchObject([{ number: 1, reason: 'The password is wrong' }]);
  });

  test.each([
    ['negative', 'failed', 'items must be a whole number of 0 or more, not -1'],
    ['notANumber', 'failed', 'bytes must be a whole number of 0 or more, not nan'],
    ['fraction', 'failed', 'deleted must be a whole number of 0 or more, not 1.5'],
    ['documents', 'failed', 'documents must be a whole number of 0 or more, not -1'],
    ['dates', 'failed', 'source.newestAt'],
    ['checkpoint', 'failed', 'NUL'],
    ['reason', 'failed', 'The file a\ufffdb is\ufffd broken'],
    ['line', 'completed', 'a\ufffdb\ufffdc'],
  ])('CRAWL-86 a run ends with what is wrong when its connector has the mistake %s', async (mistake, outcome, text) => {
    startWorker(language, 'one');
    const run = await waitForOutcome(await requestRun({ mistake }, { maxRetries: 0 }), outcome);
    const said = outcome === 'failed' ? run.attemptLog[0].reason : run.log[1].message;
    expect(said).toMatch(new RegExp(text, 'i'));
  }); // oxfmt-ignore

  test('SIGTERM releases the run, which another worker goes on with at once', async () => {
    const one = startWorker(language, 'one');
    const runId = await requestRun({ pages: 100, pauseMs: 5, firstWaitsAt: 50 });
    await waitForRun(runId, 'counters', ({ items }) => items > 0);
    one.child.kill('SIGTERM');
    expect(await one.exited).toBe(0);
    expect((await getRun(runId)).outcome).toBe('waiting');
    startWorker(language, 'two');
    const run = await waitForOutcome(runId, 'completed');
    expect(run).toMatchObject({ claimedBy: 'two', items: 100, attempts: 1 });
    expect(await readPages()).toEqual(upTo(100));
  });

  test('after kill -9 another worker goes on from the last checkpoint', async () => {
    const one = startWorker(language, 'one');
    const runId = await requestRun({ pages: 100, pauseMs: 5, firstWaitsAt: 50 });
    await waitForRun(runId, 'counters', ({ items }) => items > 0);
    one.child.kill('SIGKILL');
    startWorker(language, 'two');
    const run = await waitForOutcome(runId, 'completed');
    expect(run.claimedBy).toBe('two');
    const pages = await readPages();
    expect(new Set(pages)).toEqual(new Set(upTo(100)));
    // What was crawled after the last report is crawled again, and no more.
    expect(pages.length).toBeLessThan(100 + 50);
  });

  test('a worker that was suspended finds that it has lost its run, and changes nothing', async () => {
    const one = startWorker(language, 'one');
    const runId = await requestRun({ pages: 100, pauseMs: 5, firstWaitsAt: 50 });
    await waitForRun(runId, 'counters', ({ items }) => items > 0);
    one.child.kill('SIGSTOP');
    startWorker(language, 'two');
    await waitForRun(runId, 'the next claim', ({ claimedBy }) => claimedBy === 'two');
    one.child.kill('SIGCONT');
    await waitFor(() => one.logged().includes(`Stopped the run ${runId}`), { what: 'the end of the first' });
    expect(await waitForOutcome(runId, 'completed')).toMatchObject({ claimedBy: 'two' });
  });

  test('a cancelled crawl stops, and the worker serves the next run until SIGTERM ends it, without further output', async () => {
    const one = startWorker(language, 'one');
    const cancelled = await requestRun({ pages: 10_000, pauseMs: 10 });
    await waitForRun(cancelled, 'counters', ({ items }) => items > 0);
    expect((await call('POST', `${CRAWL}/wiki_1/runs/${cancelled}/cancel`)).status).toBe(200);
    const next = await waitForOutcome(await requestRun({ pages: 3, pauseMs: 0 }), 'completed');
    expect(next).toMatchObject({ claimedBy: 'one', items: 3 });
    one.child.kill('SIGTERM');
    // The checkpoint of a run whose schedule has been replaced is refused, and a report without one is stored.
    const reason = '(?:The run was cancelled|The platform answered 409: The lease is lost: .*)';
    const said = new RegExp(`^Stopped the run ${cancelled}: ${reason}\n$`);
    expect([await one.exited, one.logged()]).toEqual([0, expect.stringMatching(said)]);
  });

  test('a token that is refused ends the worker with the reason', async () => {
    const one = startWorker(language, 'one', 'none');
    expect(await one.exited).toBe(1);
    expect(one.logged()).toContain('The platform answered 401: Unauthorized access');
  });

  test('CRAWL-87 a connector that the platform does not know ends the worker, once, with its name', async () => {
    const one = startWorker(language, 'one', token, { CONNECTOR: 'wiki_9' });
    expect(await one.exited).toBe(1);
    expect(one.logged()).toMatch(/The platform answered 400: .*wiki_9/);
  });
}

describe('the TypeScript kit', () => {
  testKit('TypeScript');

  test('reports the refusal of the end of a run', async () => {
    const stopping = new AbortController();
    const errors: string[] = [];
    const serving = serve({
      url: `http://127.0.0.1:${platform.port}`,
      token,
      connectors: ['wiki_1'],
      signal: stopping.signal,
      onError: (message) => errors.push(message),
      async crawl({ runId }) {
        await call('POST', `${CRAWL}/wiki_1/runs/${runId}/cancel`);
      },
    });
    const runId = await requestRun({});
    await waitFor(() => errors.length > 0, { what: 'the refusal' });
    expect(errors[0]).toContain(`Failed to finish the run ${runId}: The platform answered 409`);
    stopping.abort();
    await serving;
  });

  test('leaves no listener of signals behind', async () => {
    const count = () => process.listenerCount('SIGTERM') + process.listenerCount('SIGINT');
    const before = count();
    const url = `http://127.0.0.1:${platform.port}`;
    const crawl = () => Promise.resolve(undefined);
    await expect(serve({ url, token: 'none', connectors: ['wiki_1'], crawl })).rejects.toThrow('401');
    expect(count()).toBe(before);
  });
});
interface Line {
  readonly id?: string;
  readonly complete?: boolean;
  readonly fullCrawl?: string;
}
const parseLine = (text: string) => JSON.parse(text) as Line;

/** Returns numbers from 0 to 1, the same in each run of the test. */
function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return state / 2_147_483_648;
  };
}

describe('CRAWL-53 the Airbyte worker', () => {
  const COUNT = 3_000;
  const MAX_PAUSE_MS = 1_500;
  const KILLS = 5;
  const random = createRandom(44);
  const pause = () => delay(random() * MAX_PAUSE_MS);
  const isAlive = (pid: number): boolean => {
    try {
      return process.kill(pid, 0);
    } catch {
      return false;
    }
  };

  const started: ChildProcess[] = [];
  afterEach(() => {
    for (const child of started.splice(0)) child.kill('SIGKILL');
  });

  test('loses no document when it and its source are killed at random moments', async () => {
    const folder = join(dirname(dataDir.path), 'airbyte');
    const [documents, pidFile] = [join(folder, 'documents'), join(folder, 'pids')];
    await mkdir(folder);
    await writeFile(pidFile, '');
    await writeFile(join(folder, 'config.json'), JSON.stringify({ count: COUNT, pauseMs: 20, pidFile }));
    const mapping = { id: 'id', title: '{{ id }}', text: 'The number {{ id }}.' };
    await writeFile(
      join(folder, 'documents.json'),
      JSON.stringify({ access: 'everyone', streams: { numbers: mapping } }),
    );
    const source = `'${process.execPath}' '${fixture('counting-source.mjs')}'`;
    const options = ['--connector', 'wiki_1', '--source', source, '--config', 'config.json'];
    function startAirbyte() {
      const child = spawn(
        process.execPath,
        [AIRBYTE, 'airbyte', ...options, '--documents', './documents.json', '--sink', documents],
        {
          cwd: folder,
          env: {
            PATH: process.env['PATH'],
            PLATFORM_URL: `http://127.0.0.1:${platform.port}`,
            PLATFORM_TOKEN: token,
          },
          stdio: ['ignore', 'ignore', 'inherit'],
        },
      );
      started.push(child);
      return { child, exited: once(child, 'exit') };
    }
    const readPids = async () =>
      (await readFile(pidFile, 'utf8')).trim().split('\n').filter(Boolean).map(Number);
    await call('DELETE', `${CRAWL}/wiki_1/schedule`);
    const scheduleConfig = { scheduleType: 'daily', hour: 2, minute: 15 };
    await call('POST', `${CRAWL}/wiki_1/schedule`, { scheduleConfig, worker: 'pull', maxRetries: 10 });
    let runId = '';
    const request = async (body?: object) => {
      runId = (await call('POST', `${CRAWL}/wiki_1/run`, body)).body.data.runId as string;
    };
    /** @returns whether the run has completed. One that has failed for good is continued by the next one. */
    async function isComplete(): Promise<boolean> {
      const { outcome } = await getRun(runId);
      if (outcome === 'failed') await request();
      return outcome === 'completed';
    }
    await request();

    for (let kill = 0; kill < KILLS; kill += 1) {
      const before = (await readPids()).length;
      const { child, exited } = startAirbyte();
      const pid = await waitFor(
        async () => {
          if (await isComplete()) await request({ mode: 'full' });
          return (await readPids())[before];
        },
        { what: 'the start of the source' },
      );
      await pause();
      if (isAlive(pid)) process.kill(pid, 'SIGKILL');
      await pause();
      child.kill('SIGKILL');
      await exited;
      const left = await readPids();
      await waitFor(() => !left.some(isAlive), { what: 'the end of the sources of a killed worker' });
    }
    const { child, exited } = startAirbyte();
    await waitFor(isComplete, { what: 'the end of the run', patienceMs: 120_000 });
    child.kill('SIGTERM');
    expect(await exited).toEqual([0, null]);

    const names = (await readdir(documents)).filter((name) => name.endsWith('.ndjson')).toSorted();
    const batches = await Promise.all(names.map((name) => readFile(join(documents, name), 'utf8')));
    const lines = batches.flatMap((batch) => batch.trimEnd().split('\n').map(parseLine));
    const crawls = new Set(lines.filter(({ complete }) => complete).map(({ fullCrawl }) => fullCrawl));
    expect(crawls.size).toBeGreaterThan(0);
    for (const crawl of crawls) {
      const ofCrawl = lines.filter(({ fullCrawl }) => fullCrawl === crawl);
      const before = ofCrawl.slice(
        0,
        ofCrawl.findIndex(({ complete }) => complete),
      );
      expect(new Set(before.map(({ id }) => id)).size).toBe(COUNT);
    }
  });
});

describeWith('python', 'the Python kit', () => {
  testKit('Python');

  test('runs the first connector of the documentation', async () => {
    const guide = await readFile(
      resolve(import.meta.dirname, '../../../../docs/connect/your-first-connector.md'),
      'utf8',
    );
    const [, source = ''] = /```python\n([^]*?)```/.exec(guide) ?? [];
    const folder = dirname(dataDir.path);
    await writeFile(join(folder, 'inbox.py'), source);
    const inboxUrl = `http://localhost:${platform.inboxPort}`;
    const hasMail = async () => (await callUrl(`${inboxUrl}/api/mails`, 'GET')).body.mails.length > 0;
    await call('POST', '/api/v1/auth/password/forgot', { email: printed(platform, 'Admin') });
    await waitFor(hasMail, { what: 'the mail' });
    const scheduleConfig = { scheduleType: 'daily', hour: 2, minute: 15 };
    await call('POST', `${CRAWL}/mail_1/schedule`, { scheduleConfig, worker: 'pull' });
    const { body } = await call('POST', `${CRAWL}/mail_1/run`);
    const child = spawn('python3', ['inbox.py'], {
      cwd: folder,
      env: {
        PATH: process.env['PATH'],
        PYTHONPATH: KIT,
        PYTHONDONTWRITEBYTECODE: '1',
        PLATFORM_URL: `http://127.0.0.1:${platform.port}`,
        PLATFORM_TOKEN: token,
        INBOX_URL: inboxUrl,
      },
      stdio: 'ignore',
    });
    const exited = once(child, 'exit');
    const waitForEnd = (runId: string) =>
      waitFor(
        async () => {
          const { data } = (await call('GET', `${CRAWL}/mail_1/runs/${runId}`)).body;
          return data.outcome === 'completed' && data;
        },
        { what: 'the end of the run' },
      );
    const run = await waitForEnd(body.data.runId);
    expect(run.items).toBeGreaterThan(0);
    const runAgain = async () =>
      waitForEnd((await call('POST', `${CRAWL}/mail_1/run`)).body.data.runId as string);
    // Other mails, such as those about tokens, may still come.
    const next = await waitFor(
      async () => {
        const found = await runAgain();
        return found.items === 0 && found;
      },
      { what: 'a run without new mails' },
    );
    expect(next).toMatchObject({ mode: 'incremental' });
    child.kill('SIGTERM');
    expect(await exited).toEqual([0, null]);
  });
});
