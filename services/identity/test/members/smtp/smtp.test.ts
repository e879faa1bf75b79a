import { generateKeyPairSync } from 'node:crypto';
import { issueCertificate } from '@platform/testing';
import { serviceClient, startIdentity } from '../../identity.js';

const path = '/api/v1/configurationManager/smtpConfig';
const internalPath = '/api/v1/configurationManager/internal/smtpConfig';
const working = { host: 'smtp.corp.example', port: 2525, fromEmail: 'noreply@corp.example' };
const password = 's3cret-value-of-the-server';

const identity = await startIdentity({
  environment: { SERVICE_CLIENTS: `mail:${serviceClient.secret},crawl:${serviceClient.secret}` },
});
const session = await identity.login();
afterAll(() => identity.close());
beforeEach(async () => {
  await identity.call('DELETE', path, { token: session });
});

async function serviceToken(clientId: string): Promise<string> {
  const basic = Buffer.from(`${clientId}:${serviceClient.secret}`).toString('base64');
  const { body } = await identity.call('POST', '/api/v1/oauth2/token', {
    raw: 'grant_type=client_credentials',
    headers: { authorization: `Basic ${basic}`, 'content-type': 'application/x-www-form-urlencoded' },
  });
  return body.access_token as string;
}
const save = (body: object, token = session) => identity.call('POST', path, { token, body });
const fetchAs = (token: string, orgId = identity.orgId) =>
  identity.call('GET', `${internalPath}?orgId=${orgId}`, { token });

test('returns the saved configuration without the password and with defaults', async () => {
  const body = { host: 'smtp.corp.example', fromEmail: 'noreply@corp.example', username: 'u', password };
  const saved = await save(body);
  const { host, fromEmail } = body;
  const smtp = { host, port: 587, fromEmail, username: 'u', tls: 'auto', hasPassword: true };
  expect([saved.status, saved.body]).toEqual([200, { message: 'SMTP configuration saved', smtp }]);
  const read = await identity.call('GET', path, { token: session });
  expect([read.status, read.body]).toEqual([200, { smtp }]);
});

test('stores the password sealed and bound to its organisation', async () => {
  await save({ ...working, username: 'u', password });
  const { rows } = await identity.db.query<{ secret_sealed: string }>('select * from smtp_configurations');
  expect(JSON.stringify(rows)).not.toContain(password);
  expect(rows[0]?.secret_sealed).toMatch(/^v1\.k1\./);
  const other = await identity.createOrganisation('other@example.com');
  await identity.call('POST', path, { token: other.session, body: working });
  await identity.db.query(
    `update smtp_configurations set username = 'u', secret_sealed = $1 where org_id = $2`,
    [rows[0]?.secret_sealed, other.orgId],
  );
  expect((await fetchAs(await serviceToken('mail'), other.orgId)).status).toBe(500);
});

test('returns the password to the mail service only', async () => {
  await save({ ...working, username: 'u', password });
  const fetched = await fetchAs(await serviceToken('mail'));
  expect(fetched.body).toEqual({ smtp: { ...working, username: 'u', password, tls: 'auto' } });
  expect(fetched.headers.get('cache-control')).toBe('no-store');
  const token = await identity.createToken(session, { scopes: ['FETCH_CONFIG', 'config:read'] });
  for (const refused of [session, token.accessToken, await serviceToken('crawl')])
    expect((await fetchAs(refused)).status).toBe(403);
  expect((await identity.call('GET', `${internalPath}?orgId=${identity.orgId}`)).status).toBe(401);
  expect((await fetchAs(await serviceToken('mail'), 'x')).status).toBe(400);
  expect((await fetchAs(await serviceToken('mail'), '0190a0b0-0000-7000-8000-000000000000')).status).toBe(
    404,
  );
});

describe('API-18 a password that is left out', () => {
  const login = { ...working, username: 'u' };
  const fetchPassword = async () => (await fetchAs(await serviceToken('mail'))).body.smtp.password;
  const readEntry = async () =>
    (await identity.call('GET', '/api/v1/audit?limit=1', { token: session })).body.data[0];

  test('is kept when only the sender changes, as the audit says', async () => {
    await save({ ...login, password });
    const fromEmail = 'other@corp.example';
    const saved = await save({ ...login, fromEmail });
    expect([saved.status, saved.body.smtp]).toEqual([
      200,
      { ...login, fromEmail, tls: 'auto', hasPassword: true },
    ]);
    expect(await fetchPassword()).toBe(password);
    expect(await readEntry()).toMatchObject({
      detail: { password: 'unchanged' },
      changes: { fromEmail: { from: working.fromEmail, to: fromEmail } },
    });
  });

  test('is deleted by null, and with the user name, as the audit says', async () => {
    for (const removal of [{ ...login, password: null }, working]) {
      await save({ ...login, password });
      const saved = await save(removal);
      expect([saved.status, saved.body.smtp.hasPassword]).toEqual([200, false]);
      expect(await fetchPassword()).toBeUndefined();
      expect((await readEntry()).detail).toEqual({ password: 'removed' });
    }
  });

  test.each([
    ['another host', { host: 'elsewhere.example' }],
    ['another port', { port: 2526 }],
    ['another encryption', { tls: 'none' }],
    ['another user name', { username: 'v' }],
  ])('is never sent to %s: it is 400, and nothing changes', async (_name, other) => {
    await save({ ...login, password });
    const refused = await save({ ...login, ...other });
    expect([refused.status, refused.body.error.details]).toMatchObject([400, [{ field: 'password' }]]);
    expect((await fetchAs(await serviceToken('mail'))).body.smtp).toEqual({
      ...login,
      password,
      tls: 'auto',
    });
    for (const given of ['another', null])
      expect((await save({ ...login, ...other, password: given })).status).toBe(200);
  });

  test('is 400 when it cannot be decrypted any more, rather than deleted', async () => {
    await save({ ...login, password });
    await identity.db.query(`update smtp_configurations set secret_sealed = 'v1.k9.lost' where org_id = $1`, [
      identity.orgId,
    ]);
    expect((await save(login)).body.error.details).toMatchObject([{ field: 'password' }]);
    expect((await save({ ...login, password })).status).toBe(200);
  });
});

test('responds with 404 after the configuration is removed', async () => {
  await save(working);
  expect((await identity.call('DELETE', path, { token: session })).status).toBe(200);
  for (const method of ['GET', 'DELETE']) {
    const missing = await identity.call(method, path, { token: session });
    expect([missing.status, missing.body.error.message]).toEqual([404, 'Smtp Configuration not set']);
  }
});

test('shows administrators only their own organisation', async () => {
  await save(working);
  const other = await identity.createOrganisation('elsewhere@example.com');
  expect((await identity.call('GET', path, { token: other.session })).status).toBe(404);
});

test.each([
  ['a host with a line break', { host: 'smtp.example\r\nX' }],
  ['port 0', { port: 0 }],
  ['a sender with a line break', { fromEmail: 'a@b.example\r\nBcc: c@d.example' }],
  ['a user name with a line break', { username: 'u\r\nQUIT' }],
  ['a password without a user name', { password }],
  ['an unknown tls mode', { tls: 'maybe' }],
])('rejects %s with 400', async (_name, fields) => {
  const refused = await save({ ...working, ...fields });
  expect(refused.status).toBe(400);
  expect(refused.body.error.details).toHaveLength(1);
  expect(refused.text).not.toContain(password);
});

test('records saves and removals in the audit, without the password', async () => {
  await save({ ...working, username: 'u', password });
  await identity.call('DELETE', path, { token: session });
  const audit = await identity.call('GET', '/api/v1/audit?limit=2', { token: session });
  expect(audit.body.data.map(({ action }: { action: string }) => action)).toEqual([
    'configuration.smtp_removed',
    'configuration.smtp_saved',
  ]);
  const values = { ...working, username: 'u', tls: 'auto' };
  const from = Object.fromEntries(Object.entries(values).map(([field, to]) => [field, { from: null, to }]));
  const to = Object.fromEntries(
    Object.entries(values).map(([field, value]) => [field, { from: value, to: null }]),
  );
  expect(audit.body.data.map(({ changes }: { changes: object }) => changes)).toEqual([to, from]);
  expect(audit.body.data[1].detail).toEqual({ password: 'changed' });
  expect(audit.text + identity.logged()).not.toContain(password);
});

describe('of a service that wants access tokens', () => {
  const office = {
    host: 'smtp.office365.com',
    port: 587,
    fromEmail: 'noreply@corp.example',
    username: 'noreply@corp.example',
    tls: 'auto',
  };
  const serviceAccount = 'mailer@project.iam.gserviceaccount.com';
  const { privateKey } = generateKeyPairSync('rsa', {
    modulusLength: 2_048,
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  });
  const microsoft = {
    type: 'oauth2',
    provider: 'microsoft',
    tenant: 'corp.example',
    clientId: 'an-application',
  };
  const google = { type: 'oauth2', provider: 'google' };
  const custom = {
    type: 'oauth2',
    provider: 'custom',
    tokenUrl: 'https://login.example/token',
    clientId: 'a-client',
    scope: 'mail offline_access',
  };
  const clientSecret = 'a-secret-of-the-client';
  const refreshToken = 'a-refresh-token-of-the-mailbox';
  const serviceAccountKey = JSON.stringify({ client_email: serviceAccount, private_key: privateKey });

  let certificate: string;
  beforeAll(async () => {
    const issued = await issueCertificate('mail', ['mail.example']);
    certificate = `${issued.certificate.cert}\n${issued.certificate.private}`;
  });

  const saveAuth = (auth: object, fields: object = {}) =>
    identity.call('POST', path, { token: session, body: { ...office, auth, ...fields } });

  test.each([
    ['microsoft with a secret', microsoft, () => ({ clientSecret }), {}],
    [
      'microsoft with a certificate',
      microsoft,
      () => ({ certificate }),
      { certificateExpiresAt: expect.stringMatching(/^\d{4}-.*Z$/) },
    ],
    ['google', google, () => ({ serviceAccountKey }), { serviceAccount }],
    ['custom', custom, () => ({ refreshToken, clientSecret }), { hasClientSecret: true }],
  ])('returns the secrets of %s to the mail service only', async (_name, open, getSecrets, derived) => {
    const secrets = getSecrets();
    const saved = await saveAuth({ ...open, ...secrets });
    const expected = { ...office, auth: { ...open, ...derived }, hasPassword: false };
    expect([saved.status, saved.body.smtp]).toEqual([200, expected]);
    const read = await identity.call('GET', path, { token: session });
    expect(read.body.smtp).toEqual(expected);
    const fetched = await identity.call(
      'GET',
      `/api/v1/configurationManager/internal/smtpConfig?orgId=${identity.orgId}`,
      { token: await serviceToken('mail') },
    );
    expect(fetched.body.smtp).toEqual({ ...office, auth: { ...open, ...secrets } });
    const { rows } = await identity.db.query('select * from smtp_configurations');
    const audit = await identity.call('GET', '/api/v1/audit?limit=1', { token: session });
    expect(audit.body.data[0].changes.auth.to).toContain(open.provider);
    const seen = JSON.stringify(rows) + saved.text + read.text + audit.text + identity.logged();
    for (const secret of Object.values(secrets))
      expect(seen).not.toContain(JSON.stringify(secret).slice(1, -1));
  });

  test('API-18 secrets that are left out are kept for the same account and server, and each is deleted by null', async () => {
    const fetchAuth = async () => (await fetchAs(await serviceToken('mail'))).body.smtp.auth;
    const namesOf = ({ body }: { body: { error: { details: { field: string }[] } } }) =>
      body.error.details.map(({ field }) => field);

    await saveAuth({ ...google, serviceAccountKey });
    expect((await saveAuth(google, { fromEmail: 'other@corp.example' })).body.smtp.auth).toEqual({
      ...google,
      serviceAccount,
    });
    expect(await fetchAuth()).toEqual({ ...google, serviceAccountKey });
    expect(namesOf(await saveAuth(google, { host: 'elsewhere.example' }))).toEqual([
      'auth.serviceAccountKey',
    ]);

    await saveAuth({ ...microsoft, clientSecret });
    await saveAuth({ ...microsoft, certificate });
    expect(await fetchAuth()).toEqual({ ...microsoft, certificate });
    expect(namesOf(await saveAuth({ ...microsoft, tenant: 'other.example' }))).toEqual(['auth.certificate']);
    expect((await saveAuth({ ...microsoft, certificate: null })).status).toBe(400);

    await saveAuth({ ...custom, refreshToken, clientSecret });
    await saveAuth({ ...custom, scope: 'mail' });
    expect(await fetchAuth()).toEqual({ ...custom, scope: 'mail', refreshToken, clientSecret });
    // What was read can be changed and sent back.
    const { smtp } = (await identity.call('GET', path, { token: session })).body;
    expect((await save({ ...smtp, fromEmail: 'third@corp.example' })).status).toBe(200);
    expect(await fetchAuth()).toEqual({ ...custom, scope: 'mail', refreshToken, clientSecret });
    await saveAuth({ ...custom, clientSecret: null });
    expect(await fetchAuth()).toEqual({ ...custom, refreshToken });
    expect(namesOf(await saveAuth({ ...custom, tokenUrl: 'https://elsewhere.example/token' }))).toEqual([
      'auth.refreshToken',
    ]);
  });

  test('an unchanged save is none, and another secret is a change', async () => {
    const list = async () =>
      (await identity.call('GET', '/api/v1/audit?limit=1', { token: session })).body.data[0];
    await saveAuth({ ...microsoft, clientSecret });
    await saveAuth({ ...microsoft, clientSecret });
    expect(await list()).toMatchObject({ detail: { password: 'unchanged' }, changes: {} });
    await saveAuth({ ...microsoft, clientSecret: 'another' });
    expect(await list()).toMatchObject({ detail: { password: 'changed' }, changes: {} });
  });

  test.each<[string, object, object, string]>([
    ['no user name', { ...microsoft, clientSecret }, { username: undefined }, 'username'],
    ['a password as well', { ...microsoft, clientSecret }, { password: 'p' }, 'password'],
    ['two secrets', { ...microsoft, clientSecret, certificate: 'x' }, {}, 'auth.clientSecret'],
    ['a tenant with a path', { ...microsoft, tenant: 'a/../b', clientSecret }, {}, 'auth.tenant'],
    ['a certificate without a key', { ...microsoft, certificate: 'x' }, {}, 'auth.certificate'],
    ['a key that is none', { ...google, serviceAccountKey: '{}' }, {}, 'auth.serviceAccountKey'],
    ['a field of another provider', { ...google, serviceAccountKey, tenant: 'x' }, {}, 'auth.tenant'],
    [
      'a token URL with a password',
      { ...custom, refreshToken, tokenUrl: 'https://a:b@x' },
      {},
      'auth.tokenUrl',
    ],
  ])('rejects %s with 400', async (_name, auth, fields, field) => {
    const { status, body } = await saveAuth(auth, fields);
    const names = (body.error.details as { field: string }[]).map((detail) => detail.field);
    expect([status, names]).toEqual([400, [field]]);
  });
});
