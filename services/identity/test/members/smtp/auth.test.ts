import { generateKeyPairSync } from 'node:crypto';
import { issueCertificate } from '@platform/testing';
import { serviceClient, startIdentity } from '../../identity.js';

/* The SMTP configuration of a service that wants access tokens. */

const path = '/api/v1/configurationManager/smtpConfig';
const working = {
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

const issued = await issueCertificate('mail', ['mail.example']);
const certificate = `${issued.certificate.cert}\n${issued.certificate.private}`;
const identity = await startIdentity({ environment: { SERVICE_CLIENTS: `mail:${serviceClient.secret}` } });
const session = await identity.login();
const { body } = await identity.call('POST', '/api/v1/oauth2/token', {
  raw: 'grant_type=client_credentials',
  headers: {
    authorization: `Basic ${Buffer.from(`mail:${serviceClient.secret}`).toString('base64')}`,
    'content-type': 'application/x-www-form-urlencoded',
  },
});
const serviceToken = body.access_token as string;
afterAll(() => identity.close());

const save = (auth: object, fields: object = {}) =>
  identity.call('POST', path, { token: session, body: { ...working, auth, ...fields } });

test.each([
  ['microsoft with a secret', microsoft, () => ({ clientSecret }), {}],
  [
    'microsoft with a certificate',
    microsoft,
    () => ({ certificate }),
    { certificateExpiresAt: expect.stringMatching(/^\d{4}-.*Z$/) },
  ],
  ['google', google, () => ({ serviceAccountKey }), { serviceAccount }],
  ['custom', custom, () => ({ refreshToken, clientSecret }), {}],
])('returns the secrets of %s to the mail service only', async (_name, open, getSecrets, derived) => {
  const secrets = getSecrets();
  const saved = await save({ ...open, ...secrets });
  const expected = { ...working, auth: { ...open, ...derived } };
  expect([saved.status, saved.body.smtp]).toEqual([200, expected]);
  const read = await identity.call('GET', path, { token: session });
  expect(read.body.smtp).toEqual(expected);
  const fetched = await identity.call(
    'GET',
    `/api/v1/configurationManager/internal/smtpConfig?orgId=${identity.orgId}`,
    { token: serviceToken },
  );
  expect(fetched.body.smtp).toEqual({ ...working, auth: { ...open, ...secrets } });
  const { rows } = await identity.db.query('select * from smtp_configurations');
  const audit = await identity.call('GET', '/api/v1/audit?limit=1', { token: session });
  expect(audit.body.data[0].changes.auth.to).toContain(open.provider);
  const seen = JSON.stringify(rows) + saved.text + read.text + audit.text + identity.logged();
  for (const secret of Object.values(secrets))
    expect(seen).not.toContain(JSON.stringify(secret).slice(1, -1));
});

test('an unchanged save is none, and another secret is a change', async () => {
  const list = async () =>
    (await identity.call('GET', '/api/v1/audit?limit=1', { token: session })).body.data[0];
  await save({ ...microsoft, clientSecret });
  await save({ ...microsoft, clientSecret });
  expect(await list()).toMatchObject({ detail: { password: 'unchanged' }, changes: {} });
  await save({ ...microsoft, clientSecret: 'another' });
  expect(await list()).toMatchObject({ detail: { password: 'changed' }, changes: {} });
});

test.each<[string, object, object, string]>([
  ['no user name', { ...microsoft, clientSecret }, { username: undefined }, 'username'],
  ['a password as well', { ...microsoft, clientSecret }, { password: 'p' }, 'password'],
  ['no secret', microsoft, {}, 'auth.clientSecret'],
  ['two secrets', { ...microsoft, clientSecret, certificate: 'x' }, {}, 'auth.clientSecret'],
  ['no tenant', { ...microsoft, tenant: undefined, clientSecret }, {}, 'auth.tenant'],
  ['a tenant with a path', { ...microsoft, tenant: 'a/../b', clientSecret }, {}, 'auth.tenant'],
  ['a certificate without a key', { ...microsoft, certificate: 'x' }, {}, 'auth.certificate'],
  ['a key that is none', { ...google, serviceAccountKey: '{}' }, {}, 'auth.serviceAccountKey'],
  ['a field of another provider', { ...google, serviceAccountKey, tenant: 'x' }, {}, 'auth.tenant'],
  ['no refresh token', custom, {}, 'auth.refreshToken'],
  ['a token URL that is none', { ...custom, refreshToken, tokenUrl: 'ftp://x' }, {}, 'auth.tokenUrl'],
  [
    'a token URL with a password',
    { ...custom, refreshToken, tokenUrl: 'https://a:b@x' },
    {},
    'auth.tokenUrl',
  ],
  ['an unknown provider', { ...microsoft, provider: 'yahoo', clientSecret }, {}, 'auth.provider'],
])('rejects %s with 400', async (_name, auth, fields, field) => {
  const refused = await save(auth, fields);
  expect([
    refused.status,
    refused.body.error.details.map((detail: { field: string }) => detail.field),
  ]).toEqual([400, [field]]);
});
