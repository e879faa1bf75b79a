import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { findFreePort, startEmbeddedPostgres } from '@platform/embedded';
import pg from 'pg';
import type { Fixture } from '../runner/fixture.js';
import { type Core, type NodeServer, startNode } from './process.js';

/** The limit of each service's heap in its image, in MiB. */
const HEAP_MIB = { identity: 256, mail: 512, crawl: 256 } as const;
type ServiceName = keyof typeof HEAP_MIB;

/** The built service, with a new migrated database. */
export interface BuiltService {
  readonly databaseUrl: string;
  /** Runs a command of the service's command line. */
  runCommand(args: readonly string[], more?: NodeJS.ProcessEnv): void;
  /** Starts the service as in production, by default on the server's core, and waits until it is ready. */
  start(core?: Core): Promise<NodeServer>;
}

/** The PostgreSQL of a suite. */
export async function startPostgres({ folder, keep, postgresSettings }: Fixture) {
  return keep(
    await startEmbeddedPostgres({
      dataDir: join(folder, 'postgres'),
      // An fsync per commit would measure the disk. Everything else is configured as in production.
      settings: {
        synchronous_commit: 'off',
        shared_buffers: '512MB',
        max_wal_size: '4GB',
        ...postgresSettings,
      },
      isTemporary: true,
    }),
  );
}

/** Runs statements in one connection, in their order. */
export async function execute(
  databaseUrl: string,
  ...statements: readonly (readonly [text: string, values?: unknown[]])[]
): Promise<pg.QueryResult<never> | undefined> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  let result: pg.QueryResult<never> | undefined;
  try {
    for (const [text, values] of statements) result = await client.query<never>(text, values);
  } finally {
    await client.end();
  }
  return result;
}

const dropIndexes = `
  create temp table dropped on commit drop as
    select indexrelid::regclass::text as name, pg_get_indexdef(indexrelid) as definition
    from pg_index where indrelid = any($1::text[]::regclass[])
      and not exists (select from pg_constraint where conindid = indexrelid)`;
const forEachDropped = (column: 'name' | 'definition', statement: string) => `
  do $$ declare each text; begin
    for each in select ${column} from dropped loop execute ${statement}; end loop; end $$`;

/**
 * Fills tables several times as fast as with plain inserts: without triggers and foreign keys, and indexes are built
 * afterwards. What a trigger would have written is for the statements to write.
 */
export async function fillTables(
  databaseUrl: string,
  tables: readonly string[],
  ...statements: readonly (readonly [text: string, values?: unknown[]])[]
): Promise<void> {
  await execute(
    databaseUrl,
    // In one transaction: the service waits for the tables, rather than reading them without their indexes.
    ['begin'],
    [`set local session_replication_role = replica`],
    [`set local maintenance_work_mem = '1GB'`],
    [dropIndexes, [tables]],
    [forEachDropped('name', `'drop index ' || each`)],
    ...statements,
    [forEachDropped('definition', 'each')],
    ['commit'],
    [`vacuum analyze ${tables.join(', ')}`],
  );
}

/** @param more - environment variables in addition to the common ones. */
export async function setUpService(
  fixture: Fixture,
  name: ServiceName,
  database: string,
  more: NodeJS.ProcessEnv,
): Promise<BuiltService> {
  const postgres = await fixture.share(startPostgres);
  await execute(postgres.url(), [`create database ${database}`]);
  // Large ones leave room for the next.
  fixture.keep({ stop: () => execute(postgres.url(), [`drop database ${database} with (force)`]) });
  const databaseUrl = postgres.url(database);
  const file = (program: string) =>
    fileURLToPath(new URL(`../../../../services/${name}/dist/${program}.js`, import.meta.url));
  const environment = {
    PATH: process.env.PATH,
    DATABASE_URL: databaseUrl,
    HOST: '127.0.0.1',
    NODE_ENV: 'production',
    // A busy machine is slow, which is no fault of the service.
    DATABASE_TIMEOUT_MS: '5000',
    IDENTITY_TIMEOUT_MS: '5000',
    ...more,
  };
  const flags = [`--max-old-space-size=${HEAP_MIB[name]}`, '--max-semi-space-size=8'];
  const runCommand: BuiltService['runCommand'] = (args, additional) =>
    void execFileSync(process.execPath, [file('cli'), ...args], {
      env: { ...environment, ...additional },
      stdio: ['ignore', 'ignore', 'inherit'],
    });
  runCommand(['migrate']);
  return {
    databaseUrl,
    runCommand,
    async start(core) {
      const port = await findFreePort();
      const options = {
        core,
        environment: { ...environment, PORT: String(port) },
      };
      return startNode([...flags, file('server')], port, options);
    },
  };
}
