import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { callUrl, createTestDatabase } from '@platform/testing';
import pg from 'pg';
import { admin, createIdentityDatabase, encryptionKeys, migrationsFolder } from '../identity.js';
import { environmentFor, run, startServer } from './process.js';

const database = await createIdentityDatabase();
const env = environmentFor(database.url);
afterAll(() => database.drop());

const startAndFail = async (environment: NodeJS.ProcessEnv, expectedCode = 1) => {
  const { code, stderr } = await run('server.js', environment).exit;
  expect(code).toBe(expectedCode);
  expect(stderr).not.toMatch(/\n\s+at /);
  return stderr.trim().split('\n');
};

test('reports all faults of the environment together, without values', async () => {
  const secret = 'not-to-be-printed-0123456789';
  const lines = await startAndFail({
    DATABASE_URL: `mysql://${secret}`,
    ENCRYPTION_KEYS: `k1:${secret}`,
    SERVICE_CLIENTS: `mail:${secret}`,
    BOOTSTRAP_ADMIN_EMAIL: secret,
    BOOTSTRAP_ADMIN_PASSWORD: 'x'.repeat(257),
    MCP_SCOPES: `kb:read,${secret}`,
    PORT: '65536',
    LOG_LEVEL: secret,
    TRUST_PROXY: `10.0.0.0/8, ${secret}`,
    PUBLIC_URL: secret,
  });
  expect(lines[0]).toBe('The environment is not right:');
  expect(lines.slice(1).map((line) => /^ {2}- (\w+) must be /.exec(line)?.[1])).toEqual([
    'PORT', 'LOG_LEVEL', 'TRUST_PROXY', 'DATABASE_URL', 'ENCRYPTION_KEYS', 'PUBLIC_URL', 'MCP_SCOPES', 'SERVICE_CLIENTS', 'BOOTSTRAP_ADMIN_EMAIL', 'BOOTSTRAP_ADMIN_PASSWORD',
  ]); // prettier-ignore
  expect(lines.join('\n')).not.toContain(secret);
  for (const scope of ['pat:read', 'pat:write', 'user:write', 'config:read', 'SEND_MAIL', 'FETCH_CONFIG'])
    expect((await startAndFail({ MCP_SCOPES: `kb:read,${scope}` })).find((line) => line.includes('MCP_SCOPES'))).toContain('granted only when named');
  const missing = await startAndFail({});
  expect(missing.map((line) => /- (\w+) is missing/.exec(line)?.[1])).toEqual([undefined, 'DATABASE_URL', 'ENCRYPTION_KEYS']);
}); // prettier-ignore

test('fails the start when variables contradict each other, and reports them together', async () => {
  const client = `mail:${'s'.repeat(32)}`;
  const lines = await startAndFail({ ...env, BOOTSTRAP_ADMIN_PASSWORD: '', SERVICE_CLIENTS: `${client},${client}` });
  expect(lines).toEqual([
    'The environment is not right:',
    '  - BOOTSTRAP_ADMIN_EMAIL and BOOTSTRAP_ADMIN_PASSWORD go together: set both, or neither',
    '  - SERVICE_CLIENTS must name each id once',
  ]);
}); // prettier-ignore

test('config describes every variable without values, and fails when a start would', async () => {
  const good = await run('cli.js', env, ['config']).exit;
  expect([good.code, good.stderr]).toEqual([0, '']);
  expect(good.stdout).toMatch(/^PORT\tdefault 0\ta TCP port/m);
  expect(good.stdout).toMatch(/^ENCRYPTION_KEYS\trequired\t/m);
  expect(good.stdout).not.toContain(encryptionKeys);
  expect(await run('cli.js', {}, ['config']).exit).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('DATABASE_URL is missing'),
  });
});

test('reports a missing or unmigrated database in one clear line', async () => {
  const empty = await createTestDatabase({ template: 'empty', migrationsDir: migrationsFolder, migrate: async () => undefined });
  try {
    expect(await startAndFail({ ...env, DATABASE_URL: empty.url }, 78)).toEqual([
      expect.stringMatching(/^The database lacks the migration \w+\. Run the command "migrate"/),
    ]);
  } finally {
    await empty.drop();
  }
  const absent = new URL(database.url);
  absent.pathname = '/no_such_database';
  expect(await startAndFail({ ...env, DATABASE_URL: absent.href })).toEqual([expect.stringMatching(/^The database can't be used .*no_such_database/)]);
}); // prettier-ignore

test('two replicas that start concurrently create one organisation, one administrator and one signing key, and both serve', async () => {
  const servers = await Promise.all([startServer(env), startServer(env)]);
  try {
    const client = new pg.Client({ connectionString: database.url });
    await client.connect();
    const { rows } = await client.query(
      'select (select count(*)::int from organisations) o, (select count(*)::int from users) u, (select count(*)::int from signing_keys) k',
    );
    await client.end();
    expect(rows).toEqual([{ o: 1, u: 1, k: 1 }]);
    for (const { url } of servers)
      expect((await callUrl(`${url}/api/v1/auth/login`, 'POST', { body: admin })).status).toBe(200);
  } finally {
    for (const { child } of servers) child.kill('SIGTERM');
  }
  for (const { exit } of servers) {
    const { code, stdout, stderr } = await exit;
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout).not.toContain(admin.password);
  }
});

test('ignores later bootstrap values', async () => {
  const server = await startServer({ ...env, BOOTSTRAP_ADMIN_PASSWORD: 'another-password' });
  try {
    const login = (password: string) =>
      callUrl(`${server.url}/api/v1/auth/login`, 'POST', { body: { ...admin, password } });
    expect((await login('another-password')).status).toBe(401);
    expect((await login(admin.password)).status).toBe(200);
  } finally {
    server.child.kill('SIGTERM');
    await server.exit;
  }
});

test('wrong encryption keys fail the start, and a rotation, with one clear line', async () => {
  const wrong = [`k1:${Buffer.alloc(32, 9).toString('base64')}`, `k2:${Buffer.alloc(32, 1).toString('base64')}`];
  for (const ENCRYPTION_KEYS of wrong) {
    const lines = await startAndFail({ ...env, ENCRYPTION_KEYS });
    expect(lines.slice(1)).toEqual([expect.stringMatching(/^ {2}- ENCRYPTION_KEYS must hold the key that sealed/)]);
    const rotation = await run('cli.js', { ...env, ENCRYPTION_KEYS }, ['keys', 'rotate']).exit;
    expect([rotation.code, rotation.stderr]).toEqual([1, expect.stringContaining('ENCRYPTION_KEYS must hold')]);
  }
  const both = await startServer({ ...env, ENCRYPTION_KEYS: `${wrong[1] ?? ''},${encryptionKeys}` });
  both.child.kill('SIGTERM');
  expect((await both.exit).code).toBe(0);
}); // prettier-ignore

test('reports a port in use in one clear line', async () => {
  const taken = createServer().listen(0, '127.0.0.1');
  await once(taken, 'listening');
  const { port } = taken.address() as AddressInfo;
  try {
    expect(await startAndFail({ ...env, PORT: String(port) })).toEqual([expect.stringMatching(/^Can't listen .*EADDRINUSE/)]);
  } finally {
    taken.close();
  }
}); // prettier-ignore
