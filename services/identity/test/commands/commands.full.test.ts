import { callUrl, createTestDatabase } from '@platform/testing';
import { Secret, TOTP } from 'otpauth';
import pg from 'pg';
import { admin, migrationsFolder } from '../identity.js';
import { environmentFor, run, startServer } from '../process/process.js';

const empty = { template: 'empty', migrationsDir: migrationsFolder, migrate: async () => undefined };
const database = await createTestDatabase(empty);
const env = environmentFor(database.url);
afterAll(() => database.drop());

const command = (args: string[], more: NodeJS.ProcessEnv = {}) =>
  run('cli.js', { ...env, ...more }, args).exit;

test('reports a usage error in one line with exit code 2, and prints the help', async () => {
  for (const args of [['brew'], ['migrate', '--no-such'], ['create-organisation'], ['create-organisation', '--name', 'x', '--admin-email', 'no e-mail']]) {
    const { code, stderr } = await command(args);
    expect([args, code, stderr.trim().split('\n').length]).toEqual([args, 2, 1]);
  }
  expect(await command(['--help'])).toMatchObject({ code: 0, stdout: expect.stringContaining('create-organisation'), stderr: '' });
}); // prettier-ignore

test('commands report a database that is not migrated', async () => {
  for (const args of [['keys', 'list'], ['create-organisation', '--name', 'x', '--admin-email', 'a@example.com']]) {
    const { code, stderr } = await command(args, { ADMIN_PASSWORD: admin.password });
    expect([code, stderr]).toEqual([78, expect.stringMatching(/^The database lacks the migration [^\n]+\n$/)]);
  }
}); // prettier-ignore

test('migrate applies each migration once, also when several run concurrently', async () => {
  const exits = await Promise.all([command(['migrate']), command(['migrate'])]);
  expect(exits.map(({ code }) => code)).toEqual([0, 0]);
  expect(exits.map(({ stdout }) => stdout).toSorted()).toEqual([
    expect.stringMatching(/^applied: 20261124000000_initial/),
    // The second one may log that it waits for the first.
    expect.stringMatching(/nothing to apply\n$/),
  ]);
});

test("migrate reports another application's database in one clear line", async () => {
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  const name = '20990101000000_other';
  await client.query(
    `insert into _prisma_migrations (id, checksum, migration_name, finished_at) values ('x', 'x', $1, now())`,
    [name],
  );
  const { code, stderr } = await command(['migrate']);
  await client.query('delete from _prisma_migrations where migration_name = $1', [name]);
  await client.end();
  expect([code, stderr]).toEqual([
    78,
    `The database is newer than this program: it has the migration ${name}. Run a newer version.\n`,
  ]);
});

test('create-organisation creates an administrator who can log in, once', async () => {
  const args = ['create-organisation', '--name', 'Second', '--admin-email', 'Boss@Second.example'];
  expect(await command(args)).toMatchObject({ code: 1, stderr: expect.stringContaining('ADMIN_PASSWORD is missing') });
  const made = await command(args, { ADMIN_PASSWORD: 'a-fine-password' });
  expect([made.code, made.stdout]).toEqual([0, expect.stringMatching(/^organisation [\w-]{36}, administrator [\w-]{36}\n$/)]);
  const again = await command(args, { ADMIN_PASSWORD: 'a-fine-password' });
  expect([again.code, again.stderr]).toEqual([1, 'This e-mail address cannot be used\n']);
  const server = await startServer(env);
  const body = { email: 'boss@second.example', password: 'a-fine-password' };
  expect((await callUrl(`${server.url}/api/v1/auth/login`, 'POST', { body })).status).toBe(200);
  server.child.kill('SIGTERM');
  await server.exit;
}); // prettier-ignore

test('AUTH-32 reset-second-factor lets an administrator who lost the device log in again', async () => {
  const server = await startServer(env);
  const call = (path: string, body: object, token?: string) =>
    callUrl(`${server.url}/api/v1/auth/${path}`, 'POST', { body, ...(token !== undefined && { token }) });
  const credentials = { email: 'boss@second.example', password: 'a-fine-password' };
  const reset = (...args: string[]) => command(['reset-second-factor', ...args]);
  try {
    const session = await call('login', credentials);
    const token = session.body.accessToken as string;
    const begun = await call('second-factor/totp', {}, token);
    const { secret, enrolment } = begun.body as { secret: string; enrolment: string };
    const code = new TOTP({ secret: Secret.fromBase32(secret) }).generate();
    expect((await call('second-factor/totp/confirm', { enrolment, code }, token)).status).toBe(200);
    expect((await call('login', credentials)).status).toBe(401);
    expect(await reset('--email', 'Boss@Second.example')).toMatchObject({
      code: 0,
      stdout: 'second factor removed, sessions ended\n',
    });
    expect((await callUrl(`${server.url}/api/v1/users/me`, 'GET', { token })).status).toBe(401);
    const again = await call('login', credentials);
    expect(again.status).toBe(200);
    const audit = await callUrl(`${server.url}/api/v1/audit?action=second_factor.reset`, 'GET', {
      token: again.body.accessToken as string,
    });
    expect(audit.body.data).toEqual([expect.objectContaining({ actorId: null, reason: 'command' })]);
    expect(await reset('--email', 'boss@second.example')).toMatchObject({ code: 1, stderr: 'The account has no second factor\n' });
    expect((await reset('--email', 'nobody@second.example')).code).toBe(1);
    expect((await reset()).code).toBe(2);
  } finally {
    server.child.kill('SIGTERM');
    await server.exit;
  }
}); // prettier-ignore

test('make-administrator lets a locked-out operator log in again, and ends the sessions of the account', async () => {
  const server = await startServer(env);
  const login = (email: string, password: string) =>
    callUrl(`${server.url}/api/v1/auth/login`, 'POST', { body: { email, password } });
  const me = async (token: string) => (await callUrl(`${server.url}/api/v1/users/me`, 'GET', { token })).status;
  try {
    const before = await login('boss@second.example', 'a-fine-password');
    const { orgId } = before.body.user as { orgId: string };
    const token = before.body.accessToken as string;
    const add = await callUrl(`${server.url}/api/v1/users`, 'POST', {
      token,
      body: { email: 'clerk@second.example', fullName: 'Clerk', password: 'a-fine-password' },
    });
    const clerk = await login('clerk@second.example', 'a-fine-password');
    const ADMIN_PASSWORD = 'a-rescued-password';
    // The address finds a member of any organisation.
    const promoted = await command(['make-administrator', '--email', 'Clerk@Second.example'], { ADMIN_PASSWORD });
    expect(promoted).toMatchObject({
      code: 0,
      stdout: `organisation ${orgId}, administrator ${add.body.user.id as string}: changed, 1 sessions ended\n`,
    });
    expect([await me(clerk.body.accessToken as string), await me(token)]).toEqual([401, 200]);
    const rescued = await login('clerk@second.example', ADMIN_PASSWORD);
    expect([rescued.status, rescued.body.user?.role]).toEqual([200, 'admin']);
    const audit = await callUrl(`${server.url}/api/v1/audit?limit=100`, 'GET', { token: rescued.body.accessToken });
    const entries = (audit.body.data as { action: string; subjectId: string; actorId: null; reason: string }[])
      .filter(({ subjectId, reason }) => subjectId === add.body.user.id && reason === 'command')
      .map(({ action, actorId }) => [action, actorId]);
    expect(entries).toEqual([['password.changed', null], ['user.role_changed', null]]);
    expect(audit.text).not.toContain(ADMIN_PASSWORD);

    // With two organisations, a new member needs --organisation, and an existing member can't be moved.
    const make = (...args: string[]) => command(['make-administrator', ...args], { ADMIN_PASSWORD });
    // With one organisation, the new member joins it.
    expect((await make('--email', 'third@second.example')).stdout).toBe(
      `organisation ${orgId}, administrator ${String((await login('third@second.example', ADMIN_PASSWORD)).body.user?.id)}: added\n`,
    );
    const third = ['create-organisation', '--name', 'Third', '--admin-email', 'boss@third.example'];
    expect((await command(third, { ADMIN_PASSWORD })).code).toBe(0);
    const unclear = await make('--email', 'new@second.example');
    expect([unclear.code, unclear.stderr]).toEqual([1, expect.stringContaining(`${orgId}  Second`)]);
    expect((await make('--email', 'new@second.example', '--organisation', orgId)).stdout).toMatch(/: added\n$/);
    expect((await login('new@second.example', ADMIN_PASSWORD)).body.user).toMatchObject({ orgId, role: 'admin' });
    const elsewhere = await make('--email', 'boss@third.example', '--organisation', orgId);
    expect([elsewhere.code, elsewhere.stderr]).toEqual([1, expect.stringContaining('belongs to organisation')]);
    const unknown = '01900000-0000-7000-8000-000000000000';
    expect(await make('--email', 'x@second.example', '--organisation', unknown)).toMatchObject({ code: 1, stderr: `There is no organisation ${unknown}\n` });
    for (const args of [[], ['--email', 'no address'], ['--email', 'a@b.example', '--organisation', 'x']])
      expect((await make(...args)).code).toBe(2);
    expect((await command(['make-administrator', '--email', 'a@b.example'])).stderr).toContain('ADMIN_PASSWORD is missing');
  } finally {
    server.child.kill('SIGTERM');
    await server.exit;
  }
}); // prettier-ignore

/** The administrator that `create-organisation` created. */
const boss = { email: 'boss@second.example', password: 'a-fine-password' };

test('erase-mails deletes the mails waiting for an address, and no others', async () => {
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  // The commands before have left notices of their own.
  await client.query('delete from outgoing_mails');
  for (const email of ['one@second.example', 'two@second.example'])
    await client.query(
      `insert into outgoing_mails (id, kind, email, created_at, expires_at, next_attempt_at)
       values (gen_random_uuid(), 'login_code', $1, now(), now() + interval '1 hour', now())`,
      [email],
    );
  const erased = await command(['erase-mails', 'One@second.example']);
  const { rows } = await client.query('select email from outgoing_mails');
  await client.query('delete from outgoing_mails');
  await client.end();
  expect([erased.code, erased.stdout, rows]).toEqual([0, '1 deleted\n', [{ email: 'two@second.example' }]]);
  expect((await command(['erase-mails'])).code).toBe(2);
});

test('re-encrypt makes the old encryption key removable', async () => {
  const fresh = `k2:${Buffer.alloc(32, 2).toString('base64')}`;
  const both = { ENCRYPTION_KEYS: `${fresh},${env.ENCRYPTION_KEYS ?? ''}` };
  const smtpPassword = 's3cret-value-of-the-server';
  const smtp = { host: 'smtp.corp.example', fromEmail: 'noreply@corp.example', username: 'u', password: smtpPassword };
  const secret = 'a-secret-of-the-mail-service-0123456789';
  const withServer = async (more: NodeJS.ProcessEnv, use: (url: string, session: string) => Promise<void>) => {
    const server = await startServer({ ...env, SERVICE_CLIENTS: `mail:${secret}`, ...more });
    try {
      const { body } = await callUrl(`${server.url}/api/v1/auth/login`, 'POST', { body: boss });
      await use(server.url, body.accessToken as string);
    } finally {
      server.child.kill('SIGTERM');
      await server.exit;
    }
  };
  await withServer({}, async (url, token) => {
    expect((await callUrl(`${url}/api/v1/configurationManager/smtpConfig`, 'POST', { token, body: smtp })).status).toBe(200);
  });
  // Without the old key nothing can be re-encrypted, and nothing is changed.
  const blind = await command(['re-encrypt'], { ENCRYPTION_KEYS: fresh });
  expect([blind.code, blind.stderr]).toEqual([1, expect.stringContaining('ENCRYPTION_KEYS must hold the key that sealed the SMTP secrets')]);
  expect((await command(['re-encrypt'], both)).stdout).toMatch(/^SMTP secrets: 1 re-encrypted\nsigning keys: [1-9]\d* re-encrypted\noutgoing mails: 0 /);
  expect((await command(['re-encrypt'], both)).stdout).toMatch(/^SMTP secrets: 0 re-encrypted\nsigning keys: 0 /);
  await withServer({ ENCRYPTION_KEYS: fresh }, async (url, session) => {
    const raw = 'grant_type=client_credentials';
    const headers = { authorization: `Basic ${Buffer.from(`mail:${secret}`).toString('base64')}`, 'content-type': 'application/x-www-form-urlencoded' };
    const service = await callUrl(`${url}/api/v1/oauth2/token`, 'POST', { raw, headers });
    const me = await callUrl(`${url}/api/v1/users/me`, 'GET', { token: session });
    const path = `/api/v1/configurationManager/internal/smtpConfig?orgId=${me.body.user.orgId as string}`;
    const fetched = await callUrl(url + path, 'GET', { token: service.body.access_token as string });
    expect([fetched.status, fetched.body.smtp?.password]).toEqual([200, smtpPassword]);
  });
  expect(await command(['re-encrypt'], { ENCRYPTION_KEYS: fresh })).toMatchObject({ code: 0 });
  env.ENCRYPTION_KEYS = fresh;
}); // prettier-ignore

test('keys lists and rotates keys, and removes a key only when another one signs', async () => {
  const list = async () => (await command(['keys', 'list'])).stdout.trim().split('\n').map((line) => line.split(/ +/));
  const [[first = '', state] = []] = await list();
  expect(state).toBe('active');
  const last = await command(['keys', 'remove', first, '--force']);
  expect([last.code, last.stderr]).toEqual([1, expect.stringContaining('This key signs')]);
  const rotated = /^published (\S+)\n$/.exec((await command(['keys', 'rotate'])).stdout)?.[1] ?? '';
  // On a slow machine it would become active during this test.
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  await client.query("update signing_keys set active_from = now() + interval '1 day' where id = $1", [rotated]);
  await client.end();
  expect((await list()).map(([id, at]) => [id, at])).toEqual([[rotated, 'published'], [first, 'active']]);
  expect(await command(['keys', 'remove'])).toMatchObject({ code: 2, stderr: 'keys takes list, rotate or remove <id>\n' });
  expect((await command(['keys', 'remove', 'nothing'])).stderr).toBe('There is no key nothing\n');
  expect(await command(['keys', 'remove', rotated])).toMatchObject({ code: 0, stdout: `removed ${rotated}\n` });
}); // prettier-ignore

test('AUD-10 a command that cannot be recorded changes nothing', async () => {
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  const countKeys = async () => (await client.query('select from signing_keys')).rowCount;
  const before = await countKeys();
  await client.query(
    `alter table audit_entries add constraint closed check (action <> 'operator.command_run') not valid`,
  );
  try {
    expect(await command(['keys', 'rotate'])).toMatchObject({ code: 1 });
    expect(await countKeys()).toBe(before);
  } finally {
    await client.query('alter table audit_entries drop constraint closed');
    await client.end();
  }
});

test('AUD-10 what an operator does to the whole platform is in the audit of every organisation', async () => {
  expect(await command(['after-restore'])).toMatchObject({ code: 0 });
  await command(['erase-mails', boss.email]);
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  const { rows } = await client.query<{ commands: string[] }>(
    `select array_agg(distinct detail ->> 'command' order by detail ->> 'command') as commands from organisations
     left join audit_entries on org_id = organisations.id and action = 'operator.command_run' group by organisations.id
     order by count(*)`,
  );
  await client.end();
  const everywhere = ['after-restore', 'keys remove', 'keys rotate', 're-encrypt'];
  expect(rows.length).toBeGreaterThan(1);
  for (const { commands } of rows) expect(commands).toEqual(expect.arrayContaining(everywhere));
  expect(rows.filter(({ commands }) => commands.includes('erase-mails'))).toHaveLength(1);
});
