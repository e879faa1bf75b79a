import { type IdentityUnderTest, serviceClient, startIdentity } from '../../identity.js';

let identity: IdentityUnderTest;
let session: string;
let serviceToken: (clientId: string) => Promise<string>;

const path = '/api/v1/configurationManager/smtpConfig';
const internalPath = '/api/v1/configurationManager/internal/smtpConfig';
const working = { host: 'smtp.corp.example', port: 2525, fromEmail: 'noreply@corp.example' };
const password = 's3cret-value-of-the-server';

beforeAll(async () => {
  identity = await startIdentity({
    environment: { SERVICE_CLIENTS: `mail:${serviceClient.secret},crawl:${serviceClient.secret}` },
  });
  session = await identity.login();
  serviceToken = async (clientId) => {
    const basic = Buffer.from(`${clientId}:${serviceClient.secret}`).toString('base64');
    const { body } = await identity.call('POST', '/api/v1/oauth2/token', {
      raw: 'grant_type=client_credentials',
      headers: { authorization: `Basic ${basic}`, 'content-type': 'application/x-www-form-urlencoded' },
    });
    return body.access_token as string;
  };
});
afterAll(() => identity.close());
beforeEach(async () => {
  await identity.call('DELETE', path, { token: session });
});

const save = (body: object, token = session) => identity.call('POST', path, { token, body });
const fetchAs = (token: string, orgId = identity.orgId) =>
  identity.call('GET', `${internalPath}?orgId=${orgId}`, { token });

test('returns the saved configuration without the password and with defaults', async () => {
  const body = { host: 'smtp.corp.example', fromEmail: 'noreply@corp.example', username: 'u', password };
  const saved = await save(body);
  const smtp = { host: body.host, port: 587, fromEmail: body.fromEmail, username: 'u', tls: 'auto' };
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

test('CONFIG_CLIENT_ID and CRAWL_CLIENT_ID set which client may do what', async () => {
  const { id, secret } = serviceClient;
  const other = await startIdentity({
    environment: {
      SERVICE_CLIENTS: `other:${secret},${id}:${secret},crawler:${secret}`,
      CONFIG_CLIENT_ID: id,
      CRAWL_CLIENT_ID: 'crawler',
    },
  });
  const getScope = async (clientId: string) => {
    const { body } = await other.call('POST', '/api/v1/oauth2/token', {
      raw: 'grant_type=client_credentials',
      headers: {
        authorization: `Basic ${Buffer.from(`${clientId}:${secret}`).toString('base64')}`,
        'content-type': 'application/x-www-form-urlencoded',
      },
    });
    return body.scope as string;
  };
  try {
    expect(await getScope(id)).toBe('token:introspect FETCH_CONFIG facts:mail');
    expect(await getScope('crawler')).toBe('token:introspect facts:crawl');
    expect(await getScope('other')).toBe('token:introspect');
  } finally {
    await other.close();
  }
});

test('a save replaces the whole configuration, so that the password is not sent to another server', async () => {
  await save({ ...working, username: 'u', password });
  await save({ ...working, host: 'elsewhere.example' });
  const fetched = await fetchAs(await serviceToken('mail'));
  expect(fetched.body.smtp).toEqual({ ...working, host: 'elsewhere.example', tls: 'auto' });
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
  ['no host', { host: undefined }],
  ['a host with a scheme', { host: 'https://smtp.example' }],
  ['a host with a line break', { host: 'smtp.example\r\nX' }],
  ['port 0', { port: 0 }],
  ['a port that is a text', { port: '25' }],
  ['no sender', { fromEmail: undefined }],
  ['a sender with a line break', { fromEmail: 'a@b.example\r\nBcc: c@d.example' }],
  ['a sender that is no address', { fromEmail: 'noreply' }],
  ['a user name with a line break', { username: 'u\r\nQUIT' }],
  ['a password without a user name', { password }],
  ['an unknown tls mode', { tls: 'maybe' }],
  ['a field that is not known', { secure: true }],
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
