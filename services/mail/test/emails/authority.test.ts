import { emailBody, startMail } from '../mail.js';

const sendPath = '/api/v1/mail/emails/sendEmail';
const reloadPath = '/api/v1/mail/updateSmtpConfig';

const mail = await startMail();
afterAll(() => mail.close());

const toMessage = (response: { status: number; body: { error: { message: string } } }) => [
  response.status,
  response.body.error.message,
];

test('a request without a bearer token fails with 401 and a challenge', async () => {
  for (const path of [sendPath, reloadPath]) {
    const refused = await mail.call('POST', path, { body: emailBody() });
    expect(toMessage(refused)).toEqual([401, 'Authorization header not found']);
    expect(refused.headers.get('www-authenticate')).toBe('Bearer realm="platform"');
  }
});

test('a token without the scope, and any session, fails with 403 before anything else is checked', async () => {
  const other = await mail.createToken(['kb:read']);
  const sender = await mail.createToken(['SEND_MAIL']);
  for (const [path, token, scope] of [
    [sendPath, other, 'SEND_MAIL'],
    [sendPath, mail.session, 'SEND_MAIL'],
    [reloadPath, sender, 'FETCH_CONFIG'],
    [reloadPath, mail.session, 'FETCH_CONFIG'],
  ] as const) {
    const refused = await mail.call('POST', path, { token, raw: 'not even JSON' });
    expect(toMessage(refused)).toEqual([403, 'Invalid token scope']);
    expect(refused.headers.get('www-authenticate')).toContain(`error="insufficient_scope", scope="${scope}"`);
  }
});

test('a missing configuration fails with 404 before the body is read', async () => {
  const refused = await mail.call('POST', sendPath, { token: mail.token, raw: 'not even JSON' });
  expect(toMessage(refused)).toEqual([404, 'Smtp Configuration not set']);
  expect(toMessage(await mail.call('POST', reloadPath, { token: mail.token }))).toEqual([
    404,
    'Smtp Configuration not set',
  ]);
});

test('the internal route refuses tokens and sessions of users', async () => {
  const path = '/api/v1/mail/internal/sendEmail';
  const body = { orgId: mail.orgId, ...emailBody() };
  for (const token of [mail.token, mail.session])
    expect((await mail.call('POST', path, { token, body })).status).toBe(403);
  expect((await mail.call('POST', path, { body })).status).toBe(401);
});

test('an unknown path fails with 404 and an unsupported method with 405', async () => {
  expect((await mail.call('GET', '/api/v1/mail/nothing')).body.error.code).toBe('NOT_FOUND');
  for (const method of ['GET', 'PUT', 'QUERY']) {
    const other = await mail.call(method, sendPath);
    expect([method, other.status, other.headers.get('allow')]).toEqual([method, 405, 'POST']);
  }
});
