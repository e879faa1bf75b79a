import type { Answer } from '@platform/testing';
import { createHttpBrowser, type HttpBrowser } from '../../browser.js';
import { type Member, startIdentity } from '../../identity.js';

const TEN_MINUTES = 10 * 60_000;
const CONFIRM = '/api/v1/sessions/confirm';
const required = [403, 'CONFIRMATION_REQUIRED'];

/** Why the other operations that change something need no confirmation. */
const harmless: Readonly<Record<string, readonly string[]>> = {
  'open to everyone, with its own secret': ['login', 'requestCode', 'forgotPassword', 'describeLink', 'resetPassword', 'acceptInvitation', 'reportLeakedTokens', 'loginSecondFactor', 'enrolAtLogin', 'confirmEnrolmentAtLogin', 'getPasskeyOptionsAtLogin', 'enrolPasskeyAtLogin', 'confirmPasskeyAtLogin'],
  'asks for the password every time': ['changeOwnPassword', 'confirmSession'],
  'completes what was asked for in a confirmed session': ['confirmTotp', 'confirmPasskey', 'getPasskeyOptions'],
  'takes from nobody else, and gives nobody power': ['changeMe', 'savePreferences', 'renamePasskey', 'logout', 'endSession', 'endOtherSessions', 'revokeOwnToken', 'editOwnToken', 'revokeConnectedApp', 'stopEventSubscription', 'addIdentityDomain', 'createGroup'],
  'ends what a member can begin again by signing in': ['endUserSessions'],
  'looks, and changes nothing': ['testIdentityProvider', 'testMcpServer', 'testOwnMcpCredential', 'refreshMcpServer', 'testDestination', 'evaluateAccess', 'evaluateAccesses', 'searchAccessSubjects', 'searchAccessResources', 'searchAccessActions'],
  'sends what was sent before to where an administrator had it sent': ['sendDeliveryAgain'],
  'does what each agent of the person does, of which the tools decide': ['callTool'],
  'takes no session, or no cookie': ['rotateOwnCredential', 'revokeOwnCredential', 'callTools'],
}; // oxfmt-ignore

const identity = await startIdentity();
const session = await identity.login();
afterAll(() => identity.close());

interface Operation {
  readonly method: string;
  readonly operationId: string;
  /** Whether its documentation says that a browser needs a confirmed session. */
  readonly isDangerous: boolean;
}

async function listOperations(): Promise<Operation[]> {
  const { body } = await identity.call('GET', '/docs/json');
  type Documented = Record<string, Record<string, { operationId: string; description?: string }>>;
  return Object.values(body.paths as Documented).flatMap((operations) =>
    Object.entries(operations).map(([method, { operationId, description = '' }]) => ({
      method: method.toUpperCase(),
      operationId,
      isDangerous: description.includes('CONFIRMATION_REQUIRED'),
    })),
  );
}

const toOutcome = ({ status, body }: Answer) => [status, body?.error?.code];
const createToken = (browser: HttpBrowser) =>
  browser.call('POST', '/api/v1/personal-access-tokens', { body: { name: 'From the browser' } });
const confirm = (browser: HttpBrowser, currentPassword: string) =>
  browser.call('POST', CONFIRM, { body: { currentPassword } });

/** A browser in which an administrator signed in more than ten minutes ago. */
async function openStaleBrowser(): Promise<{ browser: HttpBrowser; member: Member }> {
  const member = await identity.createMember(session, 'admin');
  const browser = createHttpBrowser(identity.url);
  await browser.signIn(member);
  identity.advance(TEN_MINUTES);
  return { browser, member };
}

test('AUTH-41 every operation that changes something is dangerous, or has a reason why it is not', async () => {
  const changes = (await listOperations()).filter(({ method }) => method !== 'GET');
  const harmlessOnes = changes
    .filter(({ isDangerous }) => !isDangerous)
    .map(({ operationId }) => operationId);
  expect(harmlessOnes.toSorted()).toEqual(Object.values(harmless).flat().toSorted());
});

test('AUTH-41 a fresh sign-in and the password allow dangerous acts for ten minutes, in this session only', async () => {
  const { browser, member } = await openStaleBrowser();
  const other = createHttpBrowser(identity.url);
  await other.signIn(member);
  expect((await createToken(other)).status).toBe(201);
  identity.advance(TEN_MINUTES);
  expect(toOutcome(await createToken(browser))).toEqual(required);

  const { status, body } = await confirm(browser, member.password);
  expect([status, body]).toEqual([200, { message: 'Session confirmed', confirmedUntil: expect.stringMatching(/Z$/) }]);
  expect((await createToken(browser)).status).toBe(201);
  expect(toOutcome(await createToken(other))).toEqual(required);
  identity.advance(TEN_MINUTES);
  expect(toOutcome(await createToken(browser))).toEqual(required);
  const { rows } = await identity.db.query(
    `select detail from audit_entries where action = 'session.confirmed' and actor_id = $1`,
    [member.id],
  );
  expect(rows).toEqual([{ detail: { method: 'password' } }]);
}); // oxfmt-ignore

test('AUTH-59 a session of the API changes nothing about who can sign in without a confirmation', async () => {
  const member = await identity.createMember(session, 'admin');
  identity.advance(TEN_MINUTES);
  const own = '/api/v1/auth/second-factor';
  for (const [method, path] of [
    ['PUT', '/api/v1/organisation/identity-provider'],
    ['DELETE', '/api/v1/organisation/identity-provider'],
    ['POST', '/api/v1/organisation/identity-provider/domains/corp.example/verify'],
    ['DELETE', `/api/v1/users/${member.id}/identity-provider`],
    ['DELETE', '/api/v1/auth/identity-provider'],
    ['POST', `${own}/totp`],
    ['POST', `${own}/passkey-creation-options`],
  ] as const) {
    const answer = await identity.call(method, path, { token: member.session, body: {} });
    expect([path, ...toOutcome(answer)]).toEqual([path, ...required]);
  }
  const body = { currentPassword: member.password };
  expect((await identity.call('POST', CONFIRM, { token: member.session, body })).status).toBe(200);
  expect((await identity.call('POST', `${own}/totp`, { token: member.session, body: {} })).status).toBe(200);
});

test('AUTH-41 renaming a member and a dry run are not dangerous, a role and what cannot be read are', async () => {
  const { browser } = await openStaleBrowser();
  const other = await identity.createMember(session);
  const change = (body: object) => browser.call('PATCH', `/api/v1/users/${other.id}`, { body });
  expect((await change({ fullName: 'Grace' })).status).toBe(200);
  expect(toOutcome(await change({ fullName: 'Grace', role: 'admin' }))).toEqual(required);
  const path = '/api/v1/organisation/token-policy';
  const body = (await browser.call('GET', path)).body.policy as object;
  for (const [query, outcome] of [['?dryRun=true', [200, undefined]], ['?dryRun=false', required], ['?dryRun=true&dryRun=false', required], ['', required]] as const) {
    const answer = await browser.call('PUT', `${path}${query}`, { body });
    expect([query, toOutcome(answer)]).toEqual([query, outcome]);
  }
}); // oxfmt-ignore

test('AUTH-41 wrong passwords are limited and in the audit, and confirm nothing', async () => {
  const { browser, member } = await openStaleBrowser();
  for (let tries = 0; tries < 10; tries += 1)
    expect(toOutcome(await confirm(browser, `wrong-${tries}`))).toEqual([400, 'WRONG_PASSWORD']);
  expect((await confirm(browser, member.password)).status).toBe(429);
  expect(toOutcome(await createToken(browser))).toEqual(required);
});
