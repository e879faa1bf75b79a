import { createResolveTxt } from '../../../src/sign-in/identity-provider/dns.js';
import { startIdentity } from '../../identity.js';
import { startDnsServer } from './dns-server.js';
import { environment, CALLBACK_URL, saveProvider, SETTINGS } from './flow.js';
import { client } from './foreign-provider.js';

const issuer = 'https://login.example.com';
let session: string;
let orgId: string;
let organisations = 0;

const dns = await startDnsServer();
// No mail service answers there: mails wait.
const withMail = { ...environment, MAIL_URL: 'http://127.0.0.1:9' };
const identity = await startIdentity({ environment: withMail, resolveTxt: createResolveTxt([dns.address]) });
beforeEach(async () => {
  ({ orgId, session } = await identity.createOrganisation(`boss-${++organisations}@start.example`));
});
afterAll(async () => {
  await identity?.close();
  await dns?.close();
});

const call = (method: string, path = '', body?: object, token = session) =>
  identity.call(method, SETTINGS + path, { token, ...(body && { body }) });
const addDomain = async (domain: string, token?: string) =>
  (await call('POST', '/domains', { domain }, token)).body.domain as {
    domain: string;
    verifiedAt: string | null;
    record: { name: string; value: string };
  };

test('IDP-1 the settings are saved, read without the secret, changed and removed', async () => {
  expect((await call('GET')).body).toEqual({
    identityProvider: null,
    domains: [],
    redirectUri: `${CALLBACK_URL}/${orgId}`,
    groupsKept: null,
  });
  const saved = await saveProvider(identity, session, { issuer });
  const times = { createdAt: expect.any(String) as string, updatedAt: expect.any(String) as string };
  const expected = {
    issuer,
    clientId: client.clientId,
    hasClientSecret: true,
    scopes: ['openid', 'email', 'profile'],
    secondFactorValues: [],
    justInTimeMembership: false,
    required: false,
    groupsClaim: 'groups',
    ...times,
  };
  expect([saved.status, saved.body]).toEqual([
    200,
    { message: 'Identity provider saved', identityProvider: expected, endedCount: 0 },
  ]);
  expect((await call('GET')).body.identityProvider).toEqual(expected);
  const { rows } = await identity.db.query<object>('select * from identity_providers');
  expect(JSON.stringify(rows)).not.toContain(client.clientSecret);

  // The secret stays with its provider, and with no other one.
  const { clientSecret, ...withoutSecret } = { ...client, issuer };
  const kept = await call('PUT', '', { ...withoutSecret, secondFactorValues: ['mfa'] });
  expect(kept.body.identityProvider).toEqual({ ...expected, secondFactorValues: ['mfa'] });
  for (const other of [{ issuer: 'https://other.example.com' }, { clientId: 'other' }]) {
    const moved = await call('PUT', '', { ...withoutSecret, ...other });
    expect([moved.status, moved.body.error?.details?.[0]?.field]).toEqual([400, 'clientSecret']);
  }
  const none = await call('PUT', '', { ...withoutSecret, clientId: 'other', clientSecret: null });
  expect(none.body.identityProvider).toMatchObject({ clientId: 'other', hasClientSecret: false });

  const removed = await call('DELETE');
  expect([removed.status, removed.body]).toEqual([
    200,
    { message: 'Identity provider removed', endedCount: 0 },
  ]);
  expect((await call('DELETE')).status).toBe(404);
  expect((await call('POST', '/test')).status).toBe(404);
  const { body } = await identity.call('GET', '/api/v1/audit?limit=50', { token: session });
  const actions = (body.data as { action: string; changes: object }[]).filter(({ action }) =>
    action.startsWith('identity'),
  );
  expect(actions.map(({ action }) => action)).toEqual([
    'identity_provider.removed',
    'identity_provider.saved',
    'identity_provider.saved',
    'identity_provider.saved',
  ]);
  expect(actions[2]?.changes).toEqual({ secondFactorValues: { from: '', to: 'mfa' } });
  expect(JSON.stringify(actions)).not.toContain(clientSecret);
  expect(identity.logged()).not.toContain(clientSecret);
});

test('IDP-1 settings that are not known are refused', async () => {
  for (const wrong of [{ scopes: ['email'] }, { extra: 1 }])
    expect((await saveProvider(identity, session, { issuer, ...wrong })).status).toBe(400);
  expect((await call('GET')).body.identityProvider).toBeNull();
});

test('IDP-3 a domain is verified by its TXT record', async () => {
  const added = await addDomain('Bücher.Example.');
  expect(added).toEqual({
    domain: 'xn--bcher-kva.example',
    verifiedAt: null,
    record: {
      name: '_workspace-platform.xn--bcher-kva.example',
      value: expect.stringMatching(/^domain-verification=[0-9a-f]{40}$/) as string,
    },
  });
  expect(await addDomain('bücher.example')).toEqual(added);
  const path = `/domains/${added.domain}/verify`;
  expect((await call('POST', path)).body.error.code).toBe('DOMAIN_NOT_VERIFIED');
  dns.records.set(added.record.name, ['v=spf1 -all', 'domain-verification=0123456789']);
  expect((await call('POST', path)).body.error.code).toBe('DOMAIN_NOT_VERIFIED');
  dns.records.set(added.record.name, ['v=spf1 -all', added.record.value]);
  const verified = await call('POST', path);
  expect([verified.status, verified.body.domain.verifiedAt]).toEqual([200, expect.any(String)]);
  expect((await call('GET')).body.domains).toEqual([verified.body.domain]);
  expect((await call('DELETE', `/domains/${added.domain}`)).status).toBe(200);
  expect((await call('DELETE', `/domains/${added.domain}`)).status).toBe(404);
  // Added again, it has another challenge: the old record proves nothing.
  await addDomain(added.domain);
  expect((await call('POST', path)).body.error.code).toBe('DOMAIN_NOT_VERIFIED');
});

test('IDP-3 only the names of domains are accepted, and 20 of them', async () => {
  for (const domain of ['localhost', '127.0.0.1', 'a..example', '-a.example', 'a b.example', 'ada@a.example', 'a.example/b', '*.example', 'a.123'])
    expect([domain, (await call('POST', '/domains', { domain })).status]).toEqual([domain, 400]);
  for (let count = 1; count <= 20; count += 1) await addDomain(`d${count}.example`);
  expect((await call('POST', '/domains', { domain: 'd21.example' })).body.error.code).toBe('TOO_MANY_DOMAINS');
}); // oxfmt-ignore

test('IDP-12 a verified domain belongs to one organisation, also when two verify it at once', async () => {
  const other = await identity.createOrganisation(`boss-${++organisations}@start.example`);
  const tokens = [session, other.session];
  const domains = await Promise.all(tokens.map((token) => addDomain('shared.example', token)));
  dns.records.set(
    '_workspace-platform.shared.example',
    domains.map(({ record }) => record.value),
  );
  const answers = await Promise.all(
    tokens.map((token) => call('POST', '/domains/shared.example/verify', undefined, token)),
  );
  expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 409]);
  expect(answers.find(({ status }) => status === 409)?.body.error.code).toBe('DOMAIN_TAKEN');
  // A domain of another organisation is the same as none.
  await addDomain('own.example');
  expect((await call('DELETE', '/domains/own.example', undefined, other.session)).status).toBe(404);
});

test('IDP-3 name servers that fail are not a missing record', async () => {
  const { record } = await addDomain('failing.example');
  dns.failing.add(record.name);
  const { status, headers } = await call('POST', '/domains/failing.example/verify');
  expect([status, headers.get('retry-after')]).toEqual([503, '10']);
});

test('IDP-4 an administrator causes ten mails an hour about the settings, and another that says that there are more', async () => {
  for (let count = 0; count < 13; count += 1)
    expect((await saveProvider(identity, session, { issuer })).status).toBe(200);
  const { rows } = await identity.db.query<{ notice: string }>(
    `select detail ->> 'notice' as notice from outgoing_mails join users on users.id = user_id
     where kind = 'token_alert' and users.email = $1 order by outgoing_mails.id`,
    [`boss-${organisations}@start.example`],
  );
  expect(rows.map(({ notice }) => notice)).toEqual([
    ...Array<string>(10).fill('providerSaved'),
    'moreAlerts',
  ]);
});

test('IDP-4 every administrator is mailed about a change, and nobody else', async () => {
  const second = await identity.createMember(session, 'admin');
  await identity.createMember(session);
  const mails = async () => {
    const { rows } = await identity.db.query<{ email: string; detail: Record<string, string> }>(
      `select users.email, detail
       from outgoing_mails join users on users.id = user_id
       where kind = 'token_alert' and users.org_id = (select org_id from users where email = $1) order by outgoing_mails.id`,
      [second.email],
    );
    return rows;
  };
  await saveProvider(identity, session, { issuer, justInTimeMembership: true });
  const { record } = await addDomain('mailed.example');
  dns.records.set(record.name, [record.value]);
  await call('POST', '/domains/mailed.example/verify');
  await call('DELETE', '/domains/mailed.example');
  await call('DELETE');
  const sent = await mails();
  expect(new Set(sent.map(({ email }) => email)).size).toBe(2);
  expect(sent.map(({ detail }) => detail['notice']).filter((_notice, index) => index % 2 === 0)).toEqual([
    'providerSaved',
    'domainVerified',
    'domainRemoved',
    'providerRemoved',
  ]);
  expect(sent[0]?.detail).toMatchObject({ issuer, isJustInTime: 'yes', isRequired: '' });
  expect(JSON.stringify(sent)).not.toContain(client.clientSecret);
});

test('IDP-12 nobody else can hold addresses of a verified domain', async () => {
  const other = await identity.createOrganisation(`boss-${++organisations}@start.example`);
  const invite = (email: string, token: string, password?: string) =>
    identity.call('POST', '/api/v1/users', { token, body: { email, fullName: 'Ada', password } });
  const invited = await invite('invited@held.example', other.session);
  const member = await invite('member@held.example', other.session, 'a long enough password');
  expect([invited.status, member.status]).toEqual([201, 201]);
  const { record } = await addDomain('held.example');
  dns.records.set('_workspace-platform.held.example', [record.value]);
  expect((await call('POST', '/domains/held.example/verify')).status).toBe(200);

  // The invitation is withdrawn, so that the address is free; a member stays until an operator removes them.
  const { body } = await identity.call('GET', '/api/v1/users', { token: other.session });
  const emails = (body.data as { email: string }[]).map(({ email }) => email);
  expect(emails).toContain('member@held.example');
  expect(emails).not.toContain('invited@held.example');
  expect((await invite('invited@held.example', session)).status).toBe(201);
  const refused = await invite('later@held.example', other.session);
  expect([refused.status, refused.body.error.code]).toEqual([409, 'EMAIL_TAKEN']);
  const audit = await identity.call('GET', '/api/v1/audit?action=invitation.lapsed', {
    token: other.session,
  });
  expect(audit.body.data).toEqual([
    expect.objectContaining({
      subjectId: invited.body.user.id,
      reason: 'another organisation has verified the domain',
    }),
  ]);
});

test('IDP-2 the issuer is a plain URL, at a target that the operator allows', async () => {
  for (const address of [
    'https://10.0.0.1/realm', 'https://[::1]', 'ftp://login.example.com', 'login.example.com', 'https://user:secret@login.example.com',
    'https://login.example.com/?a', 'https://login.example.com/#a', 'https://login.example.com/.well-known/openid-configuration',
  ]) {
    const { status, body } = await saveProvider(identity, session, { issuer: address });
    expect([address, status, body.error?.details?.[0]?.field]).toEqual([address, 400, 'issuer']);
  }
  expect((await saveProvider(identity, session, { issuer: 'https://127.0.0.1' })).status).toBe(200);
}); // oxfmt-ignore
