import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { findFreePort } from '@platform/embedded';
import { callUrl, type OwnPostgres, startOwnPostgres, waitFor } from '@platform/testing';
import { Pool } from 'pg';
import { ensureDatabases } from '../../src/databases.js';
import { makeDataDir, type Platform, printed, startPlatform } from '../platform.js';

/*
 * CRAWL-46: a worker is killed again and again in the middle of a full crawl in slices. In its full size
 * (CRAWL_DOCUMENTS=100000 CRAWL_KILLS=40) the crawl takes some minutes.
 */

const DOCUMENTS = Number(process.env['CRAWL_DOCUMENTS'] || 5_000);
const KILLS = Number(process.env['CRAWL_KILLS'] || 8);
/** A run that loses its worker four times in one slice fails, so there are more slices than kills. */
const DOCUMENTS_PER_SLICE = Math.ceil(DOCUMENTS / (2 * KILLS));
const PATIENCE_MS = 60_000 + KILLS * 15_000 + DOCUMENTS * 5;
const CRAWL = '/api/v1/crawlingManager';
const KNOWLEDGE = 'demo_knowledge';
const program = (name: string) => resolve(import.meta.dirname, `../../../${name}/dist/main.js`);

let dataDir: Awaited<ReturnType<typeof makeDataDir>>;
let postgres: OwnPostgres;
let platform: Platform;
let session = '';
let crawlDb: Pool;
let knowledgeDb: Pool;
const children: ChildProcess[] = [];

const call = (method: string, path: string, body?: object) =>
  callUrl(`http://127.0.0.1:${platform.port}${path}`, method, { token: session, ...(body && { body }) });

async function createToken(scope: string): Promise<string> {
  const { body } = await call('POST', '/api/v1/personal-access-tokens', { name: scope, scopes: [scope] });
  return body.token.accessToken as string;
}

function start(name: string, env: NodeJS.ProcessEnv): ChildProcess {
  const child = spawn(process.execPath, [program(name)], {
    env: {
      PATH: process.env['PATH'],
      PLATFORM_URL: `http://127.0.0.1:${platform.port}`,
      DATABASE_URL: postgres.url(KNOWLEDGE),
      ...env,
    },
    stdio: 'ignore',
  });
  children.push(child);
  return child;
}

async function kill(child: ChildProcess): Promise<void> {
  const exited = once(child, 'exit');
  child.kill('SIGKILL');
  await exited;
}

beforeAll(async () => {
  [dataDir, postgres] = await Promise.all([makeDataDir(), startOwnPostgres()]);
  platform = await startPlatform({
    dataDir: dataDir.path,
    args: ['--database-url', postgres.url()],
    // A lease lasts for 5 s.
    env: { STALLED_INTERVAL_MS: '1000', OVERDUE_GRACE_MS: '1000', RETRY_DELAY_MS: '100' },
  });
  await platform.settled;
  const admin = { email: printed(platform, 'Admin'), password: printed(platform, 'Password') };
  session = (await call('POST', '/api/v1/auth/login', admin)).body.accessToken;
  await ensureDatabases(postgres.url(), [KNOWLEDGE]);
  crawlDb = new Pool({ connectionString: postgres.url('crawl'), max: 1 });
  knowledgeDb = new Pool({ connectionString: postgres.url(KNOWLEDGE), max: 1 });
}, 180_000);

afterAll(async () => {
  for (const child of children) child.kill('SIGKILL');
  platform.child.kill('SIGTERM');
  await platform.exited;
  await crawlDb.end();
  await knowledgeDb.end();
  await postgres.close();
  await dataDir.remove();
});

async function readRun() {
  const { rows } = await crawlDb.query<{ state: string; slices: number; claims: number }>(
    'select state, slices, claim_count as claims from runs',
  );
  return rows[0] ?? { state: 'none', slices: 0, claims: 0 };
}

test(
  `a worker that is killed ${KILLS} times in a crawl of ${DOCUMENTS} documents finishes it: each is in the index once, and one event is published`,
  async () => {
    const folder = join(dirname(dataDir.path), 'pages');
    for (let index = 0; index < DOCUMENTS; index += 1) {
      const name = join(folder, String(index % 100), `${index}.md`);
      if (index < 100) await mkdir(dirname(name), { recursive: true });
      await writeFile(name, `# Page ${index}\nThe word of this page is w${index}x.\n`);
    }
    start('demo-knowledge', {
      PORT: String(await findFreePort()),
      PLATFORM_TOKEN: await createToken('crawl:read'),
      PUBLIC_URL: 'http://localhost',
      JWKS_URL: `http://127.0.0.1:${platform.port}/.well-known/jwks.json`,
      TOKEN_ISSUER: 'workspace-platform',
      AUDIENCE: 'http://localhost/mcp',
      ORG_ID: 'none',
    });
    const workToken = await createToken('crawl:work');
    const startConnector = () =>
      start('demo-connector', {
        PLATFORM_TOKEN: workToken,
        FOLDER: folder,
        DOCUMENTS_PER_SLICE: String(DOCUMENTS_PER_SLICE),
      });
    let connector = startConnector();
    const schedule = { scheduleType: 'daily', hour: 2, minute: 15, timezone: 'UTC' };
    const options = { worker: 'pull' };
    await call('POST', `${CRAWL}/files_1/schedule`, { scheduleConfig: schedule, ...options });
    const startedAt = performance.now();
    await call('POST', `${CRAWL}/files_1/run`);

    let { slices, claims } = await readRun();
    for (let killed = 0; killed < KILLS; killed += 1) {
      await waitFor(
        async () => {
          const run = await readRun();
          if (run.state === 'completed' || run.state === 'failed') throw new Error(run.state);
          return run.state === 'active' && run.claims > claims && (killed === 0 || run.slices > slices);
        },
        { what: `the slice for kill ${killed + 1}`, patienceMs: PATIENCE_MS, intervalMs: 5 },
      );
      await delay(Math.random() * 100);
      await kill(connector);
      ({ slices, claims } = await readRun());
      connector = startConnector();
    }

    await waitFor(async () => (await readRun()).state === 'completed', {
      what: 'the end of the crawl',
      patienceMs: PATIENCE_MS,
    });
    const crawledAt = performance.now();
    const count = async (query: string) => {
      const { rows } = await knowledgeDb.query<{ count: number }>(query);
      return rows[0]?.count;
    };
    await waitFor(
      async () => (await count('select count(*)::int from documents where not is_indexed')) === 0,
      { what: 'the index', patienceMs: PATIENCE_MS },
    );
    expect(await count('select count(*)::int from pages')).toBe(DOCUMENTS);
    expect(await count('select count(distinct text)::int from sections')).toBe(DOCUMENTS);
    expect(await count('select count(*)::int from sections')).toBe(DOCUMENTS);
    const { data: events } = (await call('GET', `${CRAWL}/events`)).body;
    expect(events).toHaveLength(1);
    expect(events[0].payload).toMatchObject({ connector: 'files_1', mode: 'full' });
    const run = await readRun();
    expect(run).toMatchObject({ state: 'completed' });
    expect(run.slices).toBeGreaterThan(KILLS);
    // Most were killed while they had the run.
    expect(run.claims).toBeGreaterThan(run.slices);
    process.stdout.write(
      `${DOCUMENTS} documents, ${KILLS} kills: crawled in ${((crawledAt - startedAt) / 1_000).toFixed(1)} s, ` +
        `indexed after ${((performance.now() - crawledAt) / 1_000).toFixed(1)} s more; ${run.slices} slices, ${run.claims} claims\n`,
    );
  },
  3 * PATIENCE_MS,
);
