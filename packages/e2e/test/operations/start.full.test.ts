import { join } from 'node:path';
import { SERVICES } from '@platform/local/services';
import { createTestDatabase, type TestDatabase } from '@platform/testing';
import pg from 'pg';
import { root } from '../deploy/chart.js';
import { runCommand, runProgram } from '../platform/command.js';

const secret = 's'.repeat(40);
const environment = {
  HOST: '127.0.0.1',
  IDENTITY_URL: 'http://127.0.0.1:9',
  SERVICE_CLIENT_SECRET: secret,
  ENCRYPTION_KEYS: `k1:${Buffer.alloc(32).toString('base64')}`,
};

/** The exit code of a program whose database does not have the required schema. */
const NOT_MIGRATED = 78;

/** Makes the database fail in the middle of a migration: there is no room for more than two tables. */
const full = `
  create function refuse() returns event_trigger language plpgsql as $$ begin
    if (select count(*) from pg_tables where schemaname = 'public') > 2 then raise exception 'no room'; end if;
  end $$;
  create event trigger full_disk on ddl_command_end execute function refuse()`;

describe.each(SERVICES.map(({ name }) => name))('%s', (service) => {
  const migrationsDir = join(root, 'services', service, 'prisma/migrations');
  let database: TestDatabase;
  let client: pg.Client;

  beforeEach(async () => {
    database = await createTestDatabase({ template: 'empty', migrationsDir, migrate: async () => undefined });
    client = new pg.Client({ connectionString: database.url });
    await client.connect();
  });
  afterEach(async () => {
    await client.end();
    await database.drop();
  });

  const env = () => ({ ...environment, DATABASE_URL: database.url });
  /** @returns what a start that must fail says, to people. */
  async function failToStart(more: NodeJS.ProcessEnv, expectedCode = 1): Promise<string[]> {
    const { code, stderr } = await runProgram(service, 'server.js', [], more);
    expect([code, stderr]).toEqual([expectedCode, expect.not.stringMatching(/^\s+at /m)]);
    return stderr.trim().split('\n');
  }

  test('exits without its required variables, and names all of them', async () => {
    const lines = await failToStart({ PORT: 'x', LOG_LEVEL: secret, OTEL_TRACES_SAMPLER: secret });
    expect(lines[0]).toBe('The environment is not right:');
    const named = lines.slice(1).map((line) => /^ {2}- (\w+) (?:is missing: it )?must be /.exec(line)?.[1]);
    expect(named).toEqual(
      expect.arrayContaining(['PORT', 'LOG_LEVEL', 'OTEL_TRACES_SAMPLER', 'DATABASE_URL']),
    );
    expect(named).not.toContain(undefined);
    expect(lines.join()).not.toContain(secret);
  });

  // prettier-ignore
  test('exits when its database is not migrated, or has a newer schema', async () => {
    expect(await failToStart(env(), NOT_MIGRATED)).toEqual([expect.stringMatching(/^The database lacks the migration \w+\. Run the command "migrate"/)]);
    expect(await runCommand(service, ['migrate'], env())).toMatchObject({ code: 0 });
    await client.query(
      `insert into _prisma_migrations (id, checksum, migration_name, finished_at) values ('x', 'x', '20990101000000_next', now())`,
    );
    const newer = 'The database is newer than this program: it has the migration 20990101000000_next. Run a newer version.';
    expect(await failToStart(env(), NOT_MIGRATED)).toEqual([newer]);
    expect((await runCommand(service, ['migrate'], env())).stderr).toBe(`${newer}\n`);
  });

  test('a failed migration is rolled back, reports why, and succeeds when it is repeated', async () => {
    await client.query(full);
    const failed = await runCommand(service, ['migrate'], env());
    expect([failed.code, failed.stderr]).toEqual([
      NOT_MIGRATED,
      expect.stringMatching(/^The migration \w+_initial failed and was rolled back: no room\n$/),
    ]);
    const { rows } = await client.query(
      `select tablename from pg_tables where schemaname = 'public' and tablename not like '\\_%'`,
    );
    expect(rows).toEqual([]);
    await client.query('drop event trigger full_disk');
    const again = await runCommand(service, ['migrate'], env());
    expect([again.code, again.stdout]).toEqual([0, expect.stringMatching(/^applied: \w+_initial/)]);
  });
});
