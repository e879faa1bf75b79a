import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { describeWith, waitFor } from '@platform/testing';
import { makeDataDir, type Platform, printed, startPlatform } from './platform.js';
import { connectV2, type ToolClient } from './tool-client.js';

/* CRAWL-53: an Airbyte source, from a schedule to what an agent finds. */

const START_MS = 180_000;
const CRAWL = '/api/v1/crawlingManager';
const WORKER = resolve(import.meta.dirname, '../../crawl-worker/dist/main.js');

describeWith('airbyte-sources', 'a source from PyPI', () => {
  let dataDir: Awaited<ReturnType<typeof makeDataDir>>;
  let platform: Platform;
  let session: string;
  let token: string;
  let folder: string;
  let agent: ToolClient;
  const workers: ChildProcess[] = [];

  async function call(method: string, path: string, body?: object) {
    const response = await fetch(`http://127.0.0.1:${platform.port}${path}`, {
      method,
      headers: { authorization: `Bearer ${session}`, ...(body && { 'content-type': 'application/json' }) },
      ...(body && { body: JSON.stringify(body) }),
    });
    // The tests examine responses of every shape.
    // oxlint-disable-next-line typescript/no-explicit-any
    return (await response.json()) as any;
  }

  beforeAll(async () => {
    dataDir = await makeDataDir();
    platform = await startPlatform({ dataDir: dataDir.path, hasDemo: true });
    await platform.settled;
    const admin = { email: printed(platform, 'Admin'), password: printed(platform, 'Password') };
    session = (await call('POST', '/api/v1/auth/login', admin)).accessToken;
    const createToken = async (scope: string) =>
      (await call('POST', '/api/v1/personal-access-tokens', { name: scope, scopes: [scope] })).token
        .accessToken as string;
    token = await createToken('crawl:work');
    folder = join(dirname(dataDir.path), 'worker');
    await mkdir(folder);
    agent = await connectV2(`http://127.0.0.1:${platform.port}/mcp`, {
      authorization: `Bearer ${await createToken('kb:read')}`,
    });
  }, START_MS);
  afterEach(() => {
    for (const child of workers.splice(0)) child.kill('SIGKILL');
  });
  afterAll(async () => {
    await agent.close();
    platform.child.kill('SIGTERM');
    await platform.exited;
    await dataDir.remove();
  });

  /** Runs the command, with the token, until the returned function is called. */
  function startWorker(...args: string[]) {
    const child = spawn(process.execPath, [WORKER, 'airbyte', ...args], {
      cwd: folder,
      env: {
        PATH: process.env['PATH'],
        PLATFORM_URL: `http://127.0.0.1:${platform.port}`,
        PLATFORM_TOKEN: token,
        SINK_TOKEN: token,
      },
      stdio: ['ignore', 'inherit', 'inherit'],
    });
    workers.push(child);
    const exited = once(child, 'exit');
    return async () => {
      child.kill('SIGTERM');
      expect(await exited).toEqual([0, null]);
    };
  }

  async function requestRun(connector: string, mode?: string): Promise<string> {
    return (await call('POST', `${CRAWL}/${connector}/run`, { ...(mode && { mode }) })).data.runId as string;
  }
  const waitForRun = (connector: string, runId: string) =>
    waitFor(
      async () => {
        const { data } = await call('GET', `${CRAWL}/${connector}/runs/${runId}`);
        return (data.outcome === 'completed' || data.outcome === 'failed') && data;
      },
      { what: 'the end of the run', patienceMs: 120_000 },
    );
  const search = async (query: string): Promise<string> =>
    (await agent.call('knowledge__search', { query })).content[0]?.text ?? '';

  test('is crawled by a schedule, and found by an agent', async () => {
    await writeFile(
      join(folder, 'faker.json'),
      JSON.stringify({ count: 50, seed: 7, always_updated: false }),
    );
    const scheduleConfig = { scheduleType: 'daily', hour: 2, minute: 15 };
    await call('POST', `${CRAWL}/db_1/schedule`, { scheduleConfig, worker: 'pull' });
    const sink = printed(platform, 'Documents').split(' ')[0] ?? '';
    const source = ['--source', 'source-faker', '--config', 'faker.json', '--documents', 'faker'];
    const stop = startWorker('--connector', 'db_1', ...source, '--access', 'everyone', '--sink', sink);
    const run = await waitForRun('db_1', await requestRun('db_1'));
    expect(run).toMatchObject({ outcome: 'completed', mode: 'full', failed: 0, progress: 100 });
    // 50 users, products and purchases each.
    expect(run.items).toBe(150);
    await waitFor(async () => (await search('Mazda MX-5')).includes('db_1:products/'), {
      what: 'the product to be found',
    });
    const again = await waitForRun('db_1', await requestRun('db_1'));
    expect(again).toMatchObject({ outcome: 'completed', mode: 'incremental', failed: 0 });
    expect(again.items).toBeLessThan(run.items);
    await stop();
  });

  test('source-file brings a local CSV and JSON, and a full crawl drops a row that is gone', async () => {
    const write = (name: string, text: string) => writeFile(join(folder, name), text);
    const toSource = (connector: string, format: string) => ({
      connector,
      source: 'source-file',
      config: {
        dataset_name: 'keepers',
        format,
        url: join(folder, `keepers.${format}`),
        provider: { storage: 'local' },
      },
      documents: './mapping.json',
      access: 'everyone',
    });
    const mapping = { id: 'id', title: '{{ name }}', text: '{{ name }} keeps a {{ animal }}.' };
    await write('mapping.json', JSON.stringify({ streams: { keepers: mapping } }));
    await write('keepers.csv', 'id,name,animal\n1,Ada,quokka\n2,"Hopper, Grace",numbat\n');
    await write('keepers.json', '[{"id":"a","name":"Mary","animal":"bilby"}]');
    const sink = printed(platform, 'Documents').split(' ')[0] ?? '';
    const sources = [toSource('wiki_1', 'csv'), toSource('issues_1', 'json')];
    await write('sources.json', JSON.stringify({ sink, sources }));
    const scheduleConfig = { scheduleType: 'daily', hour: 2, minute: 15 };
    for (const connector of ['wiki_1', 'issues_1'])
      await call('POST', `${CRAWL}/${connector}/schedule`, { scheduleConfig, worker: 'pull' });
    const stop = startWorker('--file', 'sources.json');
    const runIds = [await requestRun('wiki_1'), await requestRun('issues_1')] as const;
    expect(await waitForRun('wiki_1', runIds[0])).toMatchObject({
      outcome: 'completed',
      items: 2,
      failed: 0,
    });
    expect(await waitForRun('issues_1', runIds[1])).toMatchObject({
      outcome: 'completed',
      items: 1,
      failed: 0,
    });
    const waitForResult = (query: string, path: string, isThere: boolean) =>
      waitFor(async () => (await search(query)).includes(`(${path})`) === isThere, {
        what: `${path} in the search`,
      });
    await waitForResult('numbat', 'wiki_1:keepers/2', true);
    await waitForResult('quokka', 'wiki_1:keepers/1', true);
    await waitForResult('bilby', 'issues_1:keepers/a', true);
    await write('keepers.csv', 'id,name,animal\n2,"Hopper, Grace",wombat\n');
    await waitForRun('wiki_1', await requestRun('wiki_1', 'full'));
    await waitForResult('wombat', 'wiki_1:keepers/2', true);
    await waitForResult('quokka', 'wiki_1:keepers/1', false);
    await waitForResult('bilby', 'issues_1:keepers/a', true);
    await stop();
  });
});
