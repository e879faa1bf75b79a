import { createTestDatabase } from '@platform/testing';
import { notifyOfCommand } from '../../src/members/operator-notices/notify.js';
import { admin, encryptionKeys, migrationsFolder, serviceClient, startIdentity } from '../identity.js';
import { startReplica } from '../replica.js';
import { SETTINGS } from '../sign-in/provider/flow.js';
import {
  beginLogin,
  challengeIn,
  createPhone,
  enrol,
  readOwnStatus,
  sendCode,
} from '../sign-in/second-factor/authenticator.js';
import { runCommand } from './command.js';

const serviceClients = { SERVICE_CLIENTS: `mail:${serviceClient.secret}` };
const UNKNOWN_ID = '01900000-0000-7000-8000-000000000000';
const ADMIN_PASSWORD = 'a-rescued-password';

const identity = await startIdentity({ environment: serviceClients });
const session = await identity.login();
const phone = createPhone(identity);
afterAll(() => identity.close());

const env = { DATABASE_URL: identity.databaseUrl, ENCRYPTION_KEYS: encryptionKeys };
const command = (args: readonly string[], more: NodeJS.ProcessEnv = {}) =>
  runCommand({ ...env, ...more }, args);
/** Runs a command that has to succeed. @returns what it printed. */
async function succeed(...args: string[]): Promise<string> {
  const outcome = await command(args, { ADMIN_PASSWORD });
  expect(outcome).toMatchObject({ code: 0, stderr: '' });
  return outcome.stdout;
}
/** Runs a command that is refused. @returns the line that says why. */
async function fail(...args: string[]): Promise<string> {
  const { code, stderr } = await command(args, { ADMIN_PASSWORD });
  expect(code).toBe(1);
  return stderr;
}
async function createUser(email: string, token = session): Promise<{ id: string }> {
  const body = { email, fullName: 'Ada', password: admin.password };
  return (await identity.call('POST', '/api/v1/users', { token, body })).body.user as { id: string };
}
const login = (email: string, password = ADMIN_PASSWORD) => beginLogin(identity, { email, password });
const findAudit = async (action: string, subjectId: string) =>
  (
    await identity.db.query<{ actor_id: string | null; reason: string; detail: object }>(
      'select actor_id, reason, detail from audit_entries where action = $1 and subject_id = $2',
      [action, subjectId],
    )
  ).rows;

/** Returns what operators' commands have mailed since the last call, to whom. */
async function takeMails() {
  const { rows } = await identity.db.query<{ email: string; detail: Record<string, string> }>(
    `with taken as (delete from outgoing_mails where kind = 'token_alert' returning *)
     select users.email, detail from taken join users on users.id = user_id order by taken.id, users.email`,
  );
  return rows.map(({ email, detail }) => [email, detail] as const);
}

test('a usage error is one line and exit code 2', async () => {
  for (const args of [
    ['brew'],
    ['migrate', '--no-such'],
    ['create-organisation'],
    ['create-organisation', '--name', 'x', '--admin-email', 'no e-mail'],
    ['make-administrator'],
    ['make-administrator', '--email', 'no address'],
    ['make-administrator', '--email', 'a@b.example', '--organisation', 'x'],
    ['reset-second-factor'],
    ['remove-member'],
    ['release-domain', '--domain', 'no domain'],
    ['erase-mails'],
    ['keys', 'remove'],
  ]) {
    const { code, stdout, stderr } = await command(args);
    expect([args, code, stdout, stderr.trim().split('\n').length]).toEqual([args, 2, '', 1]);
  }
});

test('config describes every variable without values, and fails when a start would', async () => {
  const { code, stdout } = await command(['config']);
  expect([code, stdout]).toEqual([0, expect.stringMatching(/^ENCRYPTION_KEYS\trequired\t/m)]);
  expect(stdout).not.toContain(encryptionKeys);
  await expect(runCommand({}, ['config'])).rejects.toThrow('DATABASE_URL is missing');
});

test('commands report a database that is not migrated', async () => {
  const empty = await createTestDatabase({
    template: 'empty',
    migrationsDir: migrationsFolder,
    migrate: async () => undefined,
  });
  try {
    const listed = command(['keys', 'list'], { DATABASE_URL: empty.url });
    await expect(listed).rejects.toThrow(/^The database lacks the migration [^\n]+$/);
  } finally {
    await empty.drop();
  }
});

test('make-administrator lets a locked-out operator log in again, and ends the sessions of the account', async () => {
  const clerk = await createUser('clerk@example.com');
  const before = (await login('clerk@example.com', admin.password)).body.accessToken as string;
  // The address finds a member of any organisation.
  expect(await succeed('make-administrator', '--email', 'Clerk@Example.com')).toBe(
    `organisation ${identity.orgId}, administrator ${clerk.id}: changed, 1 sessions ended\n`,
  );
  expect([await readOwnStatus(identity, before), await readOwnStatus(identity, session)]).toEqual([401, 200]);
  const { status, body } = await login('clerk@example.com');
  expect([status, body.user?.role]).toEqual([200, 'admin']);
  for (const action of ['password.changed', 'user.role_changed'])
    expect(await findAudit(action, clerk.id)).toMatchObject([{ actor_id: null, reason: 'command' }]);
  await expect(command(['make-administrator', '--email', 'a@b.example'])).rejects.toThrow(
    'ADMIN_PASSWORD is missing',
  );
});

test('make-administrator adds a member to the only organisation, and to a named one of several', async () => {
  expect(await succeed('make-administrator', '--email', 'third@example.com')).toMatch(/: added\n$/);
  expect((await login('third@example.com')).body.user).toMatchObject({
    orgId: identity.orgId,
    role: 'admin',
  });
  const second = await identity.createOrganisation('boss@second.example');
  expect(await fail('make-administrator', '--email', 'new@second.example')).toContain(
    `${identity.orgId}  Example`,
  );
  const ofSecond = ['--organisation', second.orgId];
  expect(await succeed('make-administrator', '--email', 'new@second.example', ...ofSecond)).toMatch(
    /: added\n$/,
  );
  expect((await login('new@second.example')).body.user).toMatchObject({ orgId: second.orgId });
  // An existing member cannot be moved.
  expect(await fail('make-administrator', '--email', 'third@example.com', ...ofSecond)).toContain(
    'belongs to organisation',
  );
  expect(await fail('make-administrator', '--email', 'x@second.example', '--organisation', UNKNOWN_ID)).toBe(
    `There is no organisation ${UNKNOWN_ID}\n`,
  );
});

test('create-organisation creates an administrator who can log in, once', async () => {
  const args = ['create-organisation', '--name', 'Fourth', '--admin-email', 'Boss@Fourth.example'];
  await expect(command(args)).rejects.toThrow('ADMIN_PASSWORD is missing');
  expect(await succeed(...args)).toMatch(/^organisation [\w-]{36}, administrator [\w-]{36}\n$/);
  expect(await fail(...args)).toBe('This e-mail address cannot be used\n');
  expect((await login('boss@fourth.example')).status).toBe(200);
});

test('AUTH-42 administrators and the account are mailed when an operator makes an administrator', async () => {
  const { orgId, session: token } = await identity.createOrganisation('boss@acme.example');
  const make = (email: string) => succeed('make-administrator', '--email', email, '--organisation', orgId);
  await takeMails();
  await make('new@acme.example');
  const added = { notice: 'administratorAdded', email: 'new@acme.example' };
  expect(await takeMails()).toEqual([
    ['boss@acme.example', added],
    ['new@acme.example', added],
  ]);

  const { id } = await createUser('clerk@acme.example', token);
  await make('clerk@acme.example');
  const changed = { ...added, email: 'clerk@acme.example', hasNewPassword: 'yes' };
  expect(await takeMails()).toContainEqual(['boss@acme.example', changed]);
  await make('clerk@acme.example');
  const password = { notice: 'administratorPasswordChanged', email: 'clerk@acme.example' };
  expect(await takeMails()).toContainEqual(['clerk@acme.example', password]);
  expect(await findAudit('user.role_changed', id)).toHaveLength(1);
});

test('AUTH-42 members are notified of what concerns them, however many others an operator changes', async () => {
  const alert = { notice: 'memberRemovedByOperator' } as const;
  const what = { orgId: identity.orgId, topic: 'operator:test', alert, at: new Date() };
  const emails = Array.from({ length: 12 }, (_, index) => `member${index}@example.com`);
  for (const email of emails) {
    const { id: userId } = await createUser(email);
    await identity.prisma.$transaction((tx) => notifyOfCommand(tx, { ...what, userId }));
  }
  const mailed = (await takeMails()).map(([to]) => to).filter((to) => emails.includes(to));
  expect(mailed.toSorted()).toEqual(emails.toSorted());
});

test('AUTH-32 AUTH-42 reset-second-factor lets somebody who lost the device log in again, and mails them', async () => {
  const boss = { email: 'boss@lost.example', password: admin.password };
  const { orgId, session: token } = await identity.createOrganisation(boss.email);
  await enrol(identity, phone, token);
  expect((await beginLogin(identity, boss)).status).toBe(401);
  await takeMails();
  expect(await succeed('reset-second-factor', '--email', 'Boss@Lost.example')).toBe(
    'second factor removed, sessions ended\n',
  );
  expect(await readOwnStatus(identity, token)).toBe(401);
  const { status, body } = await beginLogin(identity, boss);
  expect([status, body.user?.orgId]).toEqual([200, orgId]);
  expect(await findAudit('second_factor.reset', body.user.id as string)).toMatchObject([
    { actor_id: null, reason: 'command' },
  ]);
  expect(await takeMails()).toEqual([
    [boss.email, { notice: 'secondFactorResetByOperator', email: boss.email }],
  ]);
  expect(await fail('reset-second-factor', '--email', boss.email)).toBe('The account has no second factor\n');
  await fail('reset-second-factor', '--email', 'nobody@lost.example');
});

test('remove-member frees an address that an organisation holds without right, and mails its administrators', async () => {
  const holder = await identity.createOrganisation('boss@holder.example');
  await createUser('held@elsewhere.example', holder.session);
  await takeMails();
  expect(await succeed('remove-member', '--email', 'Held@elsewhere.example')).toBe(
    `held@elsewhere.example removed from organisation ${holder.orgId}\n`,
  );
  expect(await createUser('held@elsewhere.example')).toMatchObject({ id: expect.any(String) });
  const notice = { notice: 'memberRemovedByOperator', email: 'held@elsewhere.example' };
  expect(await takeMails()).toEqual([['boss@holder.example', notice]]);
  expect(await fail('remove-member', '--email', 'boss@holder.example')).toContain('last administrator');
});

test('IDP-3 release-domain takes a verified domain from its organisation, and another one can verify it', async () => {
  const former = await identity.createOrganisation('boss@former.example');
  const owner = await identity.createOrganisation('boss@owner.example');
  const verify = ['verify-domain', '--domain', 'bücher.example', '--organisation'];
  const readDomains = async (token: string) => {
    const { body } = await identity.call('GET', SETTINGS, { token });
    return (body.domains as { domain: string }[]).map(({ domain }) => domain);
  };
  await succeed(...verify, former.orgId);
  expect(await fail(...verify, owner.orgId)).toContain('Another organisation');
  expect(await succeed('release-domain', '--domain', 'Bücher.example.')).toBe(
    `xn--bcher-kva.example released from organisation ${former.orgId}\n`,
  );
  expect(await readDomains(former.session)).toEqual([]);
  expect(await findAudit('identity_domain.removed', former.orgId)).toEqual([
    { actor_id: null, reason: 'command', detail: { domain: 'xn--bcher-kva.example' } },
  ]);
  await succeed(...verify, owner.orgId);
  expect(await readDomains(owner.session)).toEqual(['xn--bcher-kva.example']);

  // A domain that nobody has verified is left alone.
  const pending = { token: former.session, body: { domain: 'pending.example' } };
  await identity.call('POST', `${SETTINGS}/domains`, pending);
  expect(await fail('release-domain', '--domain', 'pending.example')).toBe(
    'No organisation has verified pending.example\n',
  );
  expect(await readDomains(former.session)).toEqual(['pending.example']);
});

test('IDP-4 every administrator is mailed about what an operator changes', async () => {
  const { orgId } = await identity.createOrganisation('boss@mailed.example');
  await takeMails();
  await succeed('verify-domain', '--organisation', orgId, '--domain', 'mailed.example');
  await identity.db.query(
    `insert into identity_providers (org_id, issuer, client_id, scopes, second_factor_values, is_just_in_time, is_required,
       revision, created_at, updated_at)
     values ($1, 'https://login.example', 'platform', '{}', '{}', false, true, gen_random_uuid(), now(), now())`,
    [orgId],
  );
  await succeed('lift-provider-requirement', '--organisation', orgId);
  await succeed('release-domain', '--domain', 'mailed.example');
  expect(await takeMails()).toEqual([
    ['boss@mailed.example', { notice: 'domainVerified', domain: 'mailed.example' }],
    ['boss@mailed.example', { notice: 'requirementLifted' }],
    ['boss@mailed.example', { notice: 'domainRemoved', domain: 'mailed.example' }],
  ]);
});

test('erase-mails deletes the mails waiting for an address, and no others', async () => {
  for (const email of ['one@example.com', 'two@example.com'])
    await identity.db.query(
      `insert into outgoing_mails (id, kind, email, created_at, expires_at, next_attempt_at)
       values (gen_random_uuid(), 'login_code', $1, now(), now() + interval '1 hour', now())`,
      [email],
    );
  expect(await succeed('erase-mails', 'One@example.com')).toBe('1 deleted\n');
  const { rows } = await identity.db.query("select email from outgoing_mails where kind = 'login_code'");
  expect(rows).toEqual([{ email: 'two@example.com' }]);
});

test('AUTH-50 re-encrypt makes the old encryption key removable', async () => {
  const fresh = `k2:${Buffer.alloc(32, 2).toString('base64')}`;
  const reencrypt = (keys: string) => command(['re-encrypt'], { ENCRYPTION_KEYS: keys });
  const member = await identity.createMember(session);
  const { app } = await enrol(identity, phone, member.session);
  const smtp = { host: 'smtp.corp.example', fromEmail: 'noreply@corp.example', username: 'u', password: 'p' };
  const path = '/api/v1/configurationManager/smtpConfig';
  expect((await identity.call('POST', path, { token: session, body: smtp })).status).toBe(200);

  // Without the old key nothing can be re-encrypted, and nothing is changed.
  await expect(reencrypt(fresh)).rejects.toThrow(
    'ENCRYPTION_KEYS must hold the key that sealed the SMTP secrets',
  );
  const both = `${fresh},${encryptionKeys}`;
  const { stdout } = await reencrypt(both);
  for (const line of ['SMTP secrets: 1', 'signing keys: 1', 'authenticator secrets: 1'])
    expect(stdout).toContain(`${line} re-encrypted\n`);
  expect((await reencrypt(both)).stdout).not.toMatch(/[1-9]\d* re-encrypted/);

  const replica = await startReplica(identity.databaseUrl, { ...serviceClients, ENCRYPTION_KEYS: fresh });
  try {
    const code = app.nextCode();
    replica.advance(30_000);
    const challenge = challengeIn(await beginLogin(replica, member));
    expect((await sendCode(replica, challenge, code)).status).toBe(200);
    const basic = Buffer.from(`mail:${serviceClient.secret}`).toString('base64');
    const issued = await replica.call('POST', '/api/v1/oauth2/token', {
      raw: 'grant_type=client_credentials',
      headers: { authorization: `Basic ${basic}`, 'content-type': 'application/x-www-form-urlencoded' },
    });
    const token = issued.body.access_token as string;
    const internal = `/api/v1/configurationManager/internal/smtpConfig?orgId=${identity.orgId}`;
    expect((await replica.call('GET', internal, { token })).body.smtp?.password).toBe('p');
  } finally {
    await replica.close();
  }
  env.ENCRYPTION_KEYS = fresh;
});

test('keys lists and rotates keys, and removes a key only when another one signs', async () => {
  const list = async () => {
    const lines = (await succeed('keys', 'list')).trim().split('\n');
    return lines.map((line) => line.split(/ +/).slice(0, 2));
  };
  const [[first = '', state] = []] = await list();
  expect(state).toBe('active');
  expect(await fail('keys', 'remove', first, '--force')).toContain('This key signs');
  const rotated = /^published (\S+)\n$/.exec(await succeed('keys', 'rotate'))?.[1] ?? '';
  // On a slow machine it would become active during this test.
  const later = "update signing_keys set active_from = now() + interval '1 day' where id = $1";
  await identity.db.query(later, [rotated]);
  expect(await list()).toEqual([
    [rotated, 'published'],
    [first, 'active'],
  ]);
  expect(await fail('keys', 'remove', 'nothing')).toBe('There is no key nothing\n');
  expect(await succeed('keys', 'remove', rotated)).toBe(`removed ${rotated}\n`);
});

test('AUD-10 a command that cannot be recorded changes nothing', async () => {
  const countKeys = async () => (await identity.db.query('select from signing_keys')).rowCount;
  const before = await countKeys();
  await identity.db.query(
    `alter table audit_entries add constraint closed check (action <> 'operator.command_run') not valid`,
  );
  try {
    await expect(command(['keys', 'rotate'])).rejects.toThrow('closed');
    expect(await countKeys()).toBe(before);
  } finally {
    await identity.db.query('alter table audit_entries drop constraint closed');
  }
});

test('AUD-10 what an operator does to the whole platform is in the audit of every organisation', async () => {
  await succeed('after-restore');
  await succeed('erase-mails', admin.email);
  const { rows } = await identity.db.query<{ id: string; commands: string[] }>(
    `select organisations.id, array_agg(distinct detail ->> 'command') as commands from organisations
     left join audit_entries on org_id = organisations.id and action = 'operator.command_run' group by organisations.id`,
  );
  const everywhere = ['after-restore', 'keys remove', 'keys rotate', 're-encrypt'];
  expect(rows.length).toBeGreaterThan(1);
  for (const { commands } of rows) expect(commands).toEqual(expect.arrayContaining(everywhere));
  const erased = rows.filter(({ commands }) => commands.includes('erase-mails'));
  expect(erased.map(({ id }) => id)).toEqual([identity.orgId]);
});
