import { waitFor } from '@platform/testing';
import { liftRequirementByCommand } from '../../../src/sign-in/identity-provider/commands.js';
import { makeAdministrator } from '../../../src/commands/administrators.js';
import { createPasswords } from '../../../src/base/passwords.js';
import { createHttpBrowser } from '../../browser.js';
import { admin, startIdentity } from '../../identity.js';
import {
  asOperator,
  environment,
  CALLBACK_URL,
  saveProvider,
  SETTINGS,
  signIn,
  verifyDomain,
  whoIs,
} from './flow.js';
import { startForeignProvider } from './foreign-provider.js';

let session: string;
let orgId: string;
let boss: { email: string; password: string; subject: string };
let organisations = 0;

type CommandDeps = Parameters<Parameters<typeof asOperator>[1]>[0];

const foreign = await startForeignProvider(CALLBACK_URL);
const identity = await startIdentity({ environment });
beforeEach(async () => {
  const domain = `corp-${++organisations}.example`;
  const email = `boss@${domain}`;
  ({ orgId, session } = await identity.createOrganisation(email));
  boss = { email, password: admin.password, subject: `boss-${organisations}` };
  foreign.people.set(boss.subject, { email, email_verified: true });
  await save({ required: false });
});
afterAll(async () => {
  await identity?.close();
  await foreign?.close();
});

const save = (fields: object) => saveProvider(identity, session, { issuer: foreign.issuer, ...fields });
const verify = () => verifyDomain(identity.databaseUrl, orgId, boss.email.split('@')[1] ?? '');
const login = ({ email, password }: { email: string; password: string }) =>
  identity.call('POST', '/api/v1/auth/login', { body: { email, password } });
const createUser = (email: string, role: 'admin' | 'member') =>
  identity.call('POST', '/api/v1/users', {
    token: session,
    body: { email, role, fullName: 'Ada', password: admin.password },
  });

test('IDP-16 the provider is required only when a domain is verified and an administrator has signed in with it', async () => {
  expect((await save({ required: true })).body.error.code).toBe('DOMAIN_REQUIRED');
  await verify();
  expect((await save({ required: true })).body.error.code).toBe('NO_ADMINISTRATOR_LEFT');
  expect((await login(boss)).status).toBe(200);
  await signIn(identity.url, foreign, boss);
  expect((await save({ required: true })).status).toBe(200);

  const refused = await login(boss);
  expect([refused.status, refused.body.error.code]).toEqual([401, 'PROVIDER_REQUIRED']);
  // An unknown account and a wrong password get the same response as the right password.
  for (const wrong of [
    { ...boss, password: 'wrong-horse' },
    { ...boss, email: `nobody-${boss.email}` },
  ]) {
    const answer = await login(wrong);
    expect([answer.status, answer.text]).toEqual([refused.status, refused.text]);
  }
  const failures = () =>
    identity.db.query(
      `select reason from audit_entries where action = 'sign_in.failed' and org_id = $1 order by reason`,
      [orgId],
    );
  await waitFor(async () => (await failures()).rowCount === 2, { what: 'both failures of the account' });
  expect((await failures()).rows).toEqual([{ reason: 'provider required' }, { reason: null }]);
  const browser = createHttpBrowser(identity.url);
  const page = await browser.signIn(boss);
  expect([page.status, page.text]).toEqual([
    401,
    expect.stringContaining('requires you to sign in with its identity'),
  ]);
  expect(await whoIs((await signIn(identity.url, foreign, boss)).browser)).toMatchObject({
    email: boss.email,
  });
});

test('IDP-9 members outside the verified domains keep their passwords', async () => {
  await verify();
  const outsider = { email: `outsider-${organisations}@elsewhere.example`, password: admin.password };
  expect((await createUser(outsider.email, 'admin')).status).toBe(201);
  expect((await save({ required: true })).status).toBe(200);
  expect((await login(outsider)).status).toBe(200);
  expect((await login(boss)).body.error.code).toBe('PROVIDER_REQUIRED');
});

test('IDP-16 the last administrator who can sign in is neither removed, demoted nor disconnected', async () => {
  await verify();
  const second = await createUser(`second@${boss.email.split('@')[1]}`, 'admin');
  const { browser } = await signIn(identity.url, foreign, boss);
  const me = await whoIs(browser);
  await save({ required: true });
  const own = `/api/v1/users/${me?.id}`;
  // The second administrator has a password, which is of no use.
  expect((await identity.call('DELETE', own, { token: session })).body.error.code).toBe('LAST_ADMIN');
  const demoted = await identity.call('PATCH', own, { token: session, body: { role: 'member' } });
  expect(demoted.body.error.code).toBe('LAST_ADMIN');
  const unlinked = await identity.call('DELETE', `${own}/identity-provider`, { token: session });
  expect(unlinked.body.error.code).toBe('NO_ADMINISTRATOR_LEFT');
  const moved = await save({ required: true, clientId: 'public', clientSecret: null });
  expect(moved.body.error.code).toBe('NO_ADMINISTRATOR_LEFT');
  expect(
    (await identity.call('DELETE', `/api/v1/users/${second.body.user.id}`, { token: session })).status,
  ).toBe(200);
});

test('IDP-4 removing the provider ends the sessions that it opened, and lets passwords in again', async () => {
  await verify();
  const { browser } = await signIn(identity.url, foreign, boss);
  await save({ required: true });
  const removed = await identity.call('DELETE', SETTINGS, { token: session });
  expect([removed.status, removed.body.endedCount]).toEqual([200, 1]);
  expect(await whoIs(browser)).toBeUndefined();
  expect((await login(boss)).status).toBe(200);
  const { rows } = await identity.db.query('select 1 from provider_links where org_id = $1', [orgId]);
  expect(rows).toEqual([]);
});

test('IDP-4 another client ends the sessions and connections, another scope does not', async () => {
  await verify();
  const { browser } = await signIn(identity.url, foreign, boss);
  expect((await save({ scopes: ['openid', 'email'] })).body.endedCount).toBe(0);
  expect(await whoIs(browser)).toBeDefined();
  expect((await save({ clientId: 'public', clientSecret: null })).body.endedCount).toBe(1);
  expect(await whoIs(browser)).toBeUndefined();
  // The session that a password opened goes on.
  expect((await identity.call('GET', '/api/v1/users/me', { token: session })).status).toBe(200);
});

test('IDP-8 a second factor is asked for, unless the provider has done so and the organisation accepts that', async () => {
  await verify();
  await identity.call('POST', '/api/v1/configurationManager/signInConfig', {
    token: session,
    body: { codesEnabled: true, secondFactorRequired: true },
  });
  const SET_UP = '/sign-in/second-factor/set-up?returnTo=%2Ftokens';
  const attempt = async (said: object, secondFactorValues: string[]) => {
    expect((await save({ secondFactorValues })).status).toBe(200);
    const { browser, answer } = await signIn(identity.url, foreign, { ...boss, ...said }, '/tokens');
    return { location: answer.headers.get('location'), user: await whoIs(browser) };
  };
  expect(await attempt({ amr: ['pwd', 'mfa'] }, [])).toEqual({ location: SET_UP, user: undefined });
  expect(await attempt({ amr: ['pwd'], acr: 'bronze' }, ['mfa', 'gold'])).toEqual({
    location: SET_UP,
    user: undefined,
  });
  expect(await attempt({ amr: ['pwd', 'mfa'] }, ['mfa'])).toMatchObject({
    location: '/tokens',
    user: { email: boss.email },
  });
  expect(await attempt({ acr: 'gold' }, ['mfa', 'gold'])).toMatchObject({ location: '/tokens' });
});

test.each([
  ['lift-provider-requirement', (deps: CommandDeps) => liftRequirementByCommand(deps, orgId)],
  [
    'make-administrator',
    (deps: CommandDeps) =>
      makeAdministrator(
        { ...deps, passwords: createPasswords() },
        { email: boss.email, password: admin.password, orgId: undefined },
      ),
  ],
])('IDP-16 %s lets an administrator in again whose provider is gone', async (_name, run) => {
  await verify();
  await signIn(identity.url, foreign, boss);
  expect((await save({ required: true })).status).toBe(200);
  expect((await login(boss)).body.error.code).toBe('PROVIDER_REQUIRED');
  await asOperator(identity.databaseUrl, run);
  expect((await login(boss)).status).toBe(200);
});
