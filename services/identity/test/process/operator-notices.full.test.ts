import { Secret, TOTP } from 'otpauth';
import { notifyOfCommand } from '../../src/members/operator-notices/notify.js';
import { admin, startIdentity } from '../identity.js';
import { run } from './process.js';

/* Whoever is a victim of an operator who was deceived has to hear of it. */

const identity = await startIdentity();
const { orgId, session } = await identity.createOrganisation('boss@acme.example');
afterAll(() => identity.close());

const succeed = async (args: string[], env: NodeJS.ProcessEnv = {}) =>
  expect(await run('cli.js', { DATABASE_URL: identity.databaseUrl, ...env }, args).exit).toMatchObject({
    code: 0,
  });
const makeAdministrator = (email: string) =>
  succeed(['make-administrator', '--email', email, '--organisation', orgId], {
    ADMIN_PASSWORD: 'a-rescued-password',
  });

/** Returns what was mailed since the last call, to whom. */
async function takeMails() {
  const { rows } = await identity.db.query<{ email: string; detail: Record<string, string> }>(
    `with taken as (delete from outgoing_mails where kind = 'token_alert' returning *)
     select users.email, detail from taken join users on users.id = user_id order by users.email`,
  );
  return rows.map(({ email, detail }) => [email, detail] as const);
}

test('AUTH-42 administrators and the account are mailed when an operator makes an administrator', async () => {
  await makeAdministrator('new@acme.example');
  const added = { notice: 'administratorAdded', email: 'new@acme.example' };
  expect(await takeMails()).toEqual([
    ['boss@acme.example', added],
    ['new@acme.example', added],
  ]);

  const body = { email: 'clerk@acme.example', fullName: 'Clerk', password: admin.password };
  await identity.call('POST', '/api/v1/users', { token: session, body });
  await makeAdministrator(body.email);
  const changed = { ...added, email: body.email, hasNewPassword: 'yes' };
  expect(await takeMails()).toContainEqual(['boss@acme.example', changed]);

  await makeAdministrator(body.email);
  const password = { notice: 'administratorPasswordChanged', email: body.email };
  expect(await takeMails()).toContainEqual([body.email, password]);
});

test('AUTH-42 members are told of what concerns them, however many others an operator changes', async () => {
  const emails = Array.from({ length: 12 }, (_, index) => `member${index}@acme.example`);
  const alert = { notice: 'memberRemovedByOperator' } as const;
  const what = { orgId, topic: 'operator:test', alert, at: new Date() };
  for (const email of emails) {
    const body = { email, fullName: 'A member', password: admin.password };
    const added = await identity.call('POST', '/api/v1/users', { token: session, body });
    await identity.prisma.$transaction((tx) => notifyOfCommand(tx, { ...what, userId: added.body.user.id }));
  }
  const mailed = (await takeMails()).filter(([, { notice }]) => notice === alert.notice);
  for (const email of emails) expect(mailed.filter(([to]) => to === email)).toHaveLength(1);
});

test('AUTH-42 the member is mailed when an operator resets their second factor', async () => {
  const body = { email: 'ada@acme.example', fullName: 'Ada', password: admin.password };
  await identity.call('POST', '/api/v1/users', { token: session, body });
  const token = await identity.login({ email: body.email, password: body.password });
  const path = '/api/v1/auth/second-factor/totp';
  const begun = await identity.call('POST', path, { token, body: {} });
  const { secret, enrolment } = begun.body as { secret: string; enrolment: string };
  const code = new TOTP({ secret: Secret.fromBase32(secret) }).generate();
  await identity.call('POST', `${path}/confirm`, { token, body: { enrolment, code } });
  await takeMails();

  await succeed(['reset-second-factor', '--email', 'Ada@acme.example']);
  const mails = await takeMails();
  expect(mails.map(([email]) => email)).toEqual(
    expect.arrayContaining(['ada@acme.example', 'boss@acme.example']),
  );
  for (const [, detail] of mails)
    expect(detail).toEqual({ notice: 'secondFactorResetByOperator', email: 'ada@acme.example' });
});
