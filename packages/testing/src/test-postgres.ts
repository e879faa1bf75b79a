import { setTimeout as delay } from 'node:timers/promises';
import { startEmbeddedPostgres } from '@platform/embedded';
import { connectAdmin } from './admin-client.js';
import { isDockerAnswering } from './docker-engine.js';
import { readGivenPostgres } from './environment.js';
import { makeTemporaryDir } from './temporary-dir.js';

/** The PostgreSQL server of a test run. */
export interface TestPostgres {
  /** URL of a user that may create databases. */
  readonly adminUrl: string;
  readonly source: 'given' | 'testcontainers' | 'embedded';
  stop(): Promise<void>;
}

const IMAGE = 'postgres:18-alpine';
const CONTAINER_TIMEOUT_MS = 120_000;

/** Settings that risk data in a power cut, which does not matter for tests. */
const FAST_SETTINGS = {
  fsync: 'off',
  synchronous_commit: 'off',
  full_page_writes: 'off',
  max_connections: '400',
} as const;

/** Uses the server in TEST_DATABASE_URL, otherwise one from Testcontainers, otherwise an embedded one. */
export async function startTestPostgres(
  log: (line: string) => void = (line) => process.stderr.write(`${line}\n`),
): Promise<TestPostgres> {
  const given = readGivenPostgres();
  if (given) return useGiven(given);
  if (await isDockerAnswering()) {
    try {
      return await startContainer();
    } catch (error) {
      const reason = String(error instanceof Error ? error.message : error).split('\n')[0];
      log(`tests: Docker answers, but ${IMAGE} can't be had (${reason}); using the embedded PostgreSQL`);
    }
  }
  return startEmbedded();
}

async function useGiven(url: string): Promise<TestPostgres> {
  const client = await connectAdmin(url).catch((cause: Error) => {
    throw new Error(`TEST_DATABASE_URL is set, but its server can't be used: ${cause.message}`, { cause });
  });
  await client.end();
  return { adminUrl: url, source: 'given', stop: () => Promise.resolve() };
}

async function startContainer(): Promise<TestPostgres> {
  const { PostgreSqlContainer } = await import('@testcontainers/postgresql');
  const settings = Object.entries(FAST_SETTINGS).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const starting = new PostgreSqlContainer(IMAGE).withCommand(['postgres', ...settings]).start();
  const timer = new AbortController();
  const late = delay(CONTAINER_TIMEOUT_MS, undefined, { signal: timer.signal }).then(() => {
    throw new Error(`nothing after ${CONTAINER_TIMEOUT_MS / 1000} s`);
  });
  try {
    const container = await Promise.race([starting, late]);
    return {
      adminUrl: container.getConnectionUri(),
      source: 'testcontainers',
      stop: async () => void (await container.stop()),
    };
  } finally {
    timer.abort();
    late.catch(() => undefined);
  }
}

async function startEmbedded(): Promise<TestPostgres> {
  const dataDir = await makeTemporaryDir('platform-test-postgres-');
  const server = await startEmbeddedPostgres({ dataDir, settings: FAST_SETTINGS, isTemporary: true });
  return { adminUrl: server.url(), source: 'embedded', stop: () => server.stop() };
}
