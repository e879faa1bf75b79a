import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { findFreePort } from '@platform/embedded';
import { SERVICES } from '@platform/local/services';
import { createTestDatabase, type TestDatabase } from '@platform/testing';
import pg from 'pg';
import { root } from '../deploy/chart.js';
import { createReplica, type Replica } from '../platform/replica.js';

const secret = 's'.repeat(40);
const environment = {
  SERVICE_CLIENT_SECRET: secret,
  SERVICE_CLIENTS: `mail:${secret},crawl:${secret}`,
  ENCRYPTION_KEYS: `k1:${Buffer.alloc(32).toString('base64')}`,
  LOG_LEVEL: 'warn',
};

const makeDatabase = (service: string): Promise<TestDatabase> => {
  const migrationsDir = join(root, 'services', service, 'prisma/migrations');
  return createTestDatabase({ template: 'empty', migrationsDir, migrate: async () => undefined });
};

/** Mail and crawl need an identity to become ready. */
let identity: Replica;
let identityDatabase: TestDatabase;
beforeAll(async () => {
  identityDatabase = await makeDatabase('identity');
  identity = createReplica('identity', await findFreePort(), {
    ...environment,
    DATABASE_URL: identityDatabase.url,
  });
  await identity.command('migrate');
  await identity.start();
});
afterAll(async () => {
  await identity.kill();
  await identityDatabase.drop();
});

// The statements are those of the operations guide.
describe.each(SERVICES.map(({ name }) => name))('the database password of %s', (service) => {
  const suffix = randomBytes(4).toString('hex');
  const [a, b] = [`${service}_${suffix}`, `${service}_b_${suffix}`];
  let database: TestDatabase;
  let admin: pg.Client;
  let replica: Replica | undefined;

  beforeAll(async () => {
    database = await makeDatabase(service);
    admin = new pg.Client({ connectionString: database.url });
    await admin.connect();
  });
  afterAll(async () => {
    await replica?.kill();
    await admin.end();
    await database.drop();
    const server = new pg.Client({ connectionString: database.url.replace(/[^/]+$/, 'postgres') });
    await server.connect();
    await server.query(`drop role if exists ${b}, ${a}`);
    await server.end();
  });

  const getUrl = (role: string, password: string): string => {
    const url = new URL(database.url);
    url.username = role;
    url.password = password;
    return url.href;
  };

  // prettier-ignore
  test('is rotated with two alternating roles, one of which owns the tables', async () => {
    await admin.query(`create role ${a} login password 'first'`);
    await admin.query(`alter database ${new URL(database.url).pathname.slice(1)} owner to ${a}`);
    const env = { ...environment, IDENTITY_URL: identity.url, DATABASE_URL: getUrl(a, 'first') };
    const port = await findFreePort();
    replica = createReplica(service, port, env);
    expect(await replica.command('migrate')).toMatchObject({ code: 0, stdout: expect.stringContaining('applied: ') });
    await replica.start();

    await admin.query(`create role ${b} login password 'second' in role ${a}`);
    await admin.query(`alter role ${b} set role to ${a}`);
    await replica.stop();
    await replica.start({ DATABASE_URL: getUrl(b, 'second') });
    await admin.query(`alter role ${a} nologin`);
    expect(await replica.command('migrate')).toMatchObject({ code: 0, stdout: 'nothing to apply\n' });
    const logins = `select distinct usename from pg_stat_activity where datname = current_database() and application_name <> ''`;
    expect((await admin.query(logins)).rows).toEqual([{ usename: b }]);

    await admin.query(`alter role ${a} login password 'third'`);
    await replica.stop();
    await replica.start({ DATABASE_URL: getUrl(a, 'third') });
    await admin.query(`alter role ${b} nologin`);
    const { rows } = await admin.query(`select distinct tableowner from pg_tables where schemaname not in ('pg_catalog', 'information_schema')`);
    expect(rows).toEqual([{ tableowner: a }]);
  });

  test('when wrong, is reported by the service without its value', async () => {
    await replica?.stop();
    const start = replica?.start({ DATABASE_URL: getUrl(a, 'guessed') });
    const output = await start?.catch((error: Error) => error.message);
    expect(output).toMatch(
      /The database can't be used \(password authentication failed.*Check DATABASE_URL\.\n$/,
    );
    expect(output).not.toContain('guessed');
  });
});
