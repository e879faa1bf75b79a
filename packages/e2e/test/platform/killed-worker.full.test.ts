import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { findFreePort } from '@platform/embedded';
import {
  callUrl,
  describeWith,
  type OwnPostgres,
  type OwnRedis,
  startOwnPostgres,
  startOwnRedis,
  waitFor,
  withAdmin,
  ENCRYPTION_KEYS,
} from '@platform/testing';
import { Pool } from 'pg';
import { root } from '../deploy/chart.js';
import { type Replica, startReplica } from './replica.js';

/*
 * CRAWL-46: a worker is killed again and again in the middle of a full crawl in slices, while Redis loses its data twice
 * and PostgreSQL is restarted. In its full size (CRAWL_DOCUMENTS=100000 CRAWL_KILLS=40) it takes a quarter of an hour.
 */

const DOCUMENTS = Number(process.env['CRAWL_DOCUMENTS'] || 2_000);
const KILLS = Number(process.env['CRAWL_KILLS'] || 4);
/** A run that loses its worker four times in one slice fails, so there are more slices than kills. */
const DOCUMENTS_PER_SLICE = Math.ceil(DOCUMENTS / (2 * KILLS));
const FLUSHED_AFTER = [Math.floor(KILLS / 4), Math.floor((3 * KILLS) / 4)];
const POSTGRES_RESTARTED_BEFORE = Math.floor(KILLS / 2);
const PATIENCE_MS = 60_000 + KILLS * 15_000 + DOCUMENTS * 5;
const CRAWL = '/api/v1/crawlingManager';
const KNOWLEDGE = 'demo_knowledge';

const ADMIN = { email: 'admin@example.com', password: 'a-good-password' };
const SECRET = 's'.repeat(40);

describeWith('own-redis', 'two replicas of crawl', () => {
  let folder: string;
  let postgres: OwnPostgres;
  let redis: OwnRedis;
  let identity: Replica;
  const crawls: Replica[] = [];
  let session = '';
  let crawlDb: Pool;
  let knowledgeDb: Pool;
  const children: ChildProcess[] = [];

  const call = (path: string, body?: object) => {
    const { url } = path.startsWith(CRAWL) ? (crawls[0] as Replica) : identity;
    return callUrl(url + path, body ? 'POST' : 'GET', { token: session, ...(body && { body }) });
  };

  async function createToken(scope: string): Promise<string> {
    const { body } = await call('/api/v1/personal-access-tokens', { name: scope, scopes: [scope] });
    return body.token.accessToken as string;
  }

  const startService = async (service: string, env: NodeJS.ProcessEnv) =>
    startReplica(service, await findFreePort(), { DATABASE_URL: postgres.url(service), ...env });

  /** Runs a program of the demo, as somebody who knows one of the replicas. */
  function start(name: string, crawl: Replica | undefined, env: NodeJS.ProcessEnv): ChildProcess {
    const child = spawn(process.execPath, [join(root, 'packages', name, 'dist/main.js')], {
      env: {
        PATH: process.env['PATH'],
        PLATFORM_URL: crawl?.url,
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

  function openPool(database: string): Pool {
    const pool = new Pool({ connectionString: postgres.url(database), max: 1 });
    // The restart closes its connection.
    pool.on('error', () => undefined);
    return pool;
  }

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'platform-killed-worker-'));
    [postgres, redis] = await Promise.all([startOwnPostgres({ max_connections: '200' }), startOwnRedis()]);
    await withAdmin(postgres.url(), async (admin) => {
      for (const name of ['identity', 'crawl', KNOWLEDGE]) await admin.query(`create database ${name}`);
    });
    const unused = 'http://127.0.0.1:9';
    identity = await startService('identity', {
      ENCRYPTION_KEYS,
      SERVICE_CLIENTS: `crawl:${SECRET},demo-knowledge:${SECRET}`,
      MAIL_URL: unused,
      CRAWL_URL: unused,
      PUBLIC_URL: unused,
      BOOTSTRAP_ADMIN_EMAIL: ADMIN.email,
      BOOTSTRAP_ADMIN_PASSWORD: ADMIN.password,
    });
    for (let index = 0; index < 2; index += 1)
      crawls.push(
        await startService('crawl', {
          IDENTITY_URL: identity.url,
          IDENTITY_TIMEOUT_MS: '5000',
          SERVICE_CLIENT_SECRET: SECRET,
          ENCRYPTION_KEYS,
          PUBLIC_URL: unused,
          REDIS_URL: redis.url,
          // A lease lasts for 5 s.
          STALLED_INTERVAL_MS: '1000',
          OVERDUE_GRACE_MS: '1000',
          RETRY_DELAY_MS: '100',
        }),
      );
    session = (await call('/api/v1/auth/login', ADMIN)).body.accessToken;
    crawlDb = openPool('crawl');
    knowledgeDb = openPool(KNOWLEDGE);
  });

  afterAll(async () => {
    for (const child of children) child.kill('SIGKILL');
    await Promise.all([identity, ...crawls].map((replica) => replica.kill()));
    await Promise.all([crawlDb.end(), knowledgeDb.end()]);
    await Promise.all([postgres.close(), redis.close()]);
    await rm(folder, { recursive: true });
  });

  async function readRun() {
    const { rows } = await crawlDb.query<{ state: string; slices: number; claims: number }>(
      'select state, slices, claim_count as claims from runs',
    );
    const { state, slices, claims } = rows[0] ?? { state: 'none', slices: 0, claims: 0 };
    return { state, slices, claims, hasEnded: state === 'completed' || state === 'failed' };
  }

  test(
    `a worker that is killed ${KILLS} times in a crawl of ${DOCUMENTS} documents finishes it, though Redis loses its data twice and PostgreSQL restarts: each document is in the index once, and one event is published`,
    async () => {
      const pages = join(folder, 'pages');
      for (let index = 0; index < DOCUMENTS; index += 1) {
        const name = join(pages, String(index % 100), `${index}.md`);
        if (index < 100) await mkdir(dirname(name), { recursive: true });
        await writeFile(name, `# Page ${index}\nThe word of this page is w${index}x.\n`);
      }
      const knowledgePort = await findFreePort();
      const me = (await call('/api/v1/users/me')).body.user;
      start('demo-knowledge', crawls[1], {
        DATABASE_URL: postgres.url(KNOWLEDGE),
        PORT: String(knowledgePort),
        PLATFORM_TOKEN: await createToken('crawl:read'),
        PUBLIC_URL: identity.url,
        JWKS_URL: `${identity.url}/.well-known/jwks.json`,
        TOKEN_ISSUER: 'workspace-platform',
        AUDIENCE: 'http://localhost/mcp',
        ORG_ID: me.orgId,
        IDENTITY_URL: identity.url,
        CLIENT_ID: 'demo-knowledge',
        CLIENT_SECRET: SECRET,
      });
      const workToken = await createToken('crawl:work');
      const connectorEnv = {
        PLATFORM_TOKEN: workToken,
        SINK_TOKEN: workToken,
        SINK: `http://127.0.0.1:${knowledgePort}/documents`,
        CACHE_DIR: join(folder, 'connector'),
        FOLDER: pages,
        DOCUMENTS_PER_SLICE: String(DOCUMENTS_PER_SLICE),
      };
      const startConnector = (index: number) => start('demo-connector', crawls[index % 2], connectorEnv);
      let connector = startConnector(0);
      const scheduleConfig = { scheduleType: 'daily', hour: 2, minute: 15, timezone: 'UTC' };
      await call(`${CRAWL}/files_1/schedule`, { scheduleConfig, worker: 'pull' });
      const startedAt = performance.now();
      await call(`${CRAWL}/files_1/run`, {});

      let last = await readRun();
      const waitForNextSlice = async (what: string) => {
        const run = await waitFor(
          async () => {
            const found = await readRun();
            const isNext = found.claims > last.claims && (last.claims === 0 || found.slices > last.slices);
            return (found.hasEnded || (found.state === 'active' && isNext)) && found;
          },
          { what: `the slice for ${what}`, patienceMs: PATIENCE_MS, intervalMs: 5 },
        );
        expect(run.state).toBe('active');
        last = run;
      };
      for (let killed = 0; killed < KILLS; killed += 1) {
        await waitForNextSlice(`kill ${killed + 1}`);
        if (killed === POSTGRES_RESTARTED_BEFORE) {
          await postgres.stop();
          await postgres.start();
          await waitForNextSlice('the worker that went through a restart of PostgreSQL');
        }
        await delay(Math.random() * 100);
        await kill(connector);
        last = await readRun();
        if (FLUSHED_AFTER.includes(killed)) await redis.flush();
        connector = startConnector(killed + 1);
      }

      const run = await waitFor(
        async () => {
          const found = await readRun();
          return found.hasEnded && found;
        },
        { what: 'the end of the crawl', patienceMs: PATIENCE_MS },
      );
      expect(run.state).toBe('completed');
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
      const { data: events } = (await call(`${CRAWL}/events`)).body;
      expect(events).toHaveLength(1);
      expect(events[0].payload).toMatchObject({ connector: 'files_1', mode: 'full' });
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
});
