import { readFile, writeFile } from 'node:fs/promises';
import { type DocumentedRequest, findDisagreements, openDocument } from '@platform/testing';
import { attachment, emailBody } from './mail.js';
import { startMailWithServer } from './mail-with-server.js';

const endpoint = 'http://127.0.0.1:1';

const { mail } = await startMailWithServer({
  // Hundreds of mails keep a busy machine waiting.
  environment: { SMTP_TIMEOUT_MS: '20000' },
  resolveHost: () => Promise.resolve([{ address: '127.0.0.1', family: 4 }]),
  tokenEndpoints: { microsoft: endpoint, google: endpoint },
});
const document = openDocument((await mail.call('GET', '/docs/json')).body);
afterAll(() => mail.close());

test.each([
  ['openapi.json', '/docs/json'],
  ['openapi.internal.json', '/internal/openapi.json'],
])('%s matches what the service documents at %s (update it with UPDATE_OPENAPI=1)', async (name, path) => {
  const file = new URL(`../${name}`, import.meta.url);
  const { body } = await mail.call('GET', path);
  if (process.env.UPDATE_OPENAPI) await writeFile(file, `${JSON.stringify(body, null, 2)}\n`);
  expect(JSON.parse(await readFile(file, 'utf8'))).toEqual(body);
  expect(body.openapi).toBe('3.1.0');
});

/* Valid requests, and what is made of them: the document refuses what the service refuses with 400, and nothing else (API-15). */

const id = '01900000-0000-7000-8000-000000000000';
const link = 'https://app.example/x?token=abc';
const names = { userName: 'Ada', name: 'Ada', companyName: 'Example', orgName: 'Example' };
const validity = { validFor: '10 minutes', validForMinutes: 10 };
const facts = { time: 'today', device: 'Firefox', location: 'Berlin', ipAddress: '203.0.113.7' };
/** They are changed with one template, as their rules are the same for all. */
const common = Object.keys({ ...names, ...validity, ...facts });
const templates: readonly (readonly [type: string, data: object])[] = [
  ['loginWithOTP', { otp: '493817', ...names, ...validity }],
  ['loginWithOTP', { otp: 493_817 }],
  ['loginWithOTP', { otp: ' 1\n', userName: null, name: '' }],
  ['resetPassword', { resetLink: link, link, guessed: '', ...names, ...validity, ...facts }],
  ['resetPassword', { resetLink: link }],
  ['resetPassword', { resetLink: '', link: 'HTTPS://bücher.example' }],
  ['accountCreation', { loginLink: link, link, ...names }],
  ['accountCreation', {}],
  ['appuserInvite', { inviteLink: link, link, invitedBy: 'Grace', ...names, ...validity }],
  ['appuserInvite', { inviteLink: link }],
  ['suspiciousLoginAttempt', { resetLink: link, link, ...names, ...facts }],
];
const everyField = {
  sendEmailTo: ['to@example.com', 'info@bücher.example', 'root@localhost'],
  sendCcTo: ['δοκιμή@example.com'],
  fromEmailDomain: 'bücher.example',
  productName: 'Atlas',
  language: 'de',
  isAutoEmail: true,
  attachments: [attachment(), attachment({ content: 'aGVsbG8', contentType: 'text/x; a="b c"' })],
};
const smtp = { host: 'smtp.example.com', port: 1, fromEmail: 'a@example.com', tls: 'none' };
const auth = { type: 'oauth2', clientId: 'c' };
const toTest = (fields: object, kept: readonly string[] = []): DocumentedRequest => ({
  operationId: 'testSmtpConnection',
  body: { smtp: { ...smtp, ...fields } },
  kept,
});
const toTestAuth = (fields: object, kept: readonly string[] = []) =>
  toTest({ username: 'u', auth: { ...auth, ...fields } }, [...Object.keys(smtp), ...kept]);
const page = { page: '1', limit: '20', cursor: id };
const logo =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const requests: readonly DocumentedRequest[] = [
  ...templates.flatMap(([emailTemplateType, templateData], index): DocumentedRequest[] => [
    {
      operationId: 'previewEmail',
      body: { emailTemplateType, templateData },
      ...(index > 0 && { kept: ['emailTemplateType', ...common] }),
    },
    { operationId: 'sendEmail', changed: [], body: emailBody({ emailTemplateType, templateData }) },
  ]),
  {
    operationId: 'previewEmail',
    body: { emailTemplateType: 'accountCreation', templateData: {}, productName: 'Atlas', language: 'en' },
  },
  {
    operationId: 'sendEmail',
    changed: ['headers'],
    headers: { 'idempotency-key': 'key-1', prefer: 'wait=5' },
    body: emailBody(),
  },
  {
    operationId: 'sendEmail',
    // The others have the same rules in a preview.
    kept: ['otp', 'productName', 'language'],
    body: emailBody({ ...everyField, templateData: { otp: '1' } }),
  },
  { operationId: 'sendEmail', changed: [], body: emailBody({ subject: ' Ä \u202e' }) },
  toTest({ username: 'u', password: 'p' }),
  toTestAuth({ provider: 'microsoft', tenant: 't.example', clientSecret: 's', certificate: 'c' }),
  toTestAuth({ provider: 'microsoft', tenant: 't.example', certificate: 'c' }, ['type', 'provider', 'tenant', 'clientId']),
  toTestAuth({ provider: 'custom', tokenUrl: 'https://127.0.0.1:1/t', refreshToken: 'r', scope: 's' }, ['type', 'provider']),
  { operationId: 'testSmtpConnection' },
  toTestAuth({ provider: 'google', serviceAccountKey: '{"client_email":"a","private_key":"b"}' }, ['serviceAccountKey']),
  {
    operationId: 'listMailRecords',
    query: {
      ...page,
      q: 'code',
      state: 'any',
      recipient: 'to@example.com',
      emailTemplateType: 'loginWithOTP',
      since: '2026-01-01T00:00:00Z',
      until: '2027-01-01 00:00:00+01:00',
    },
  },
  { operationId: 'getMailRecord', path: { id } },
  { operationId: 'getMailContent', path: { id } },
  { operationId: 'resendMail', path: { id } },
  { operationId: 'eraseMailRecipient', query: { recipient: 'to@example.com' } },
  { operationId: 'listSuppressions', query: { ...page, search: 'example' } },
  { operationId: 'addSuppression', body: { address: 'Gone@bücher.example' } },
  { operationId: 'removeSuppression', path: { id } },
  {
    operationId: 'reportBounces',
    body: {
      bounces: [
        { address: 'gone@example.com', type: 'bounce', status: '5.1.1' },
        { address: 'root@localhost', type: 'complaint' },
      ],
    },
  },
  {
    operationId: 'saveMailBrand',
    body: {
      name: 'Bücher & Co',
      logo,
      accentColor: '#0a7d33',
      footer: 'Hauptstraße 1',
      replyTo: 'help@example.com',
      language: 'de',
    },
  },
]; // oxfmt-ignore

async function send(request: DocumentedRequest) {
  const token = ['sendEmail', 'reportBounces'].includes(request.operationId) ? mail.token : mail.session;
  const answer = await document.send(mail.url, request, { token });
  if (answer.status !== 429) return answer;
  // The connection tests of a minute are limited.
  mail.advance(61_000);
  return document.send(mail.url, request, { token });
}

test('the valid requests have every parameter and every field of the document', () => {
  expect(document.findMissing(requests)).toEqual([]);
});

test.each([...new Set(requests.map(({ operationId }) => operationId))])(
  'the document refuses exactly what %s refuses for its content',
  async (operation) => {
    const own = requests.filter(({ operationId }) => operationId === operation);
    for (const request of own) expect([request, (await send(request)).status]).not.toEqual([request, 400]);
    expect(await findDisagreements(document, own, send)).toEqual([]);
  },
  120_000,
);

/* The document says in words what no schema can. */
test.each<[string, DocumentedRequest, string]>([
  ['a link that is no URL', { operationId: 'previewEmail', body: { emailTemplateType: 'accountCreation', templateData: { link: 'https://a b' } } }, 'links have to be URLs'],
  ['a long local part', { operationId: 'addSuppression', body: { address: `${'a'.repeat(65)}@example.com` } }, 'At most 64 bytes before the'],
  ['half a logo', { operationId: 'saveMailBrand', body: { logo: logo.slice(0, 40) } }, 'whole and with nothing after it'],
  ['a key that is no JSON', toTestAuth({ provider: 'google', serviceAccountKey: '{' }), 'JSON with `client_email`'],
  ['NUL in a body', { operationId: 'previewEmail', body: { emailTemplateType: 'accountCreation', templateData: { other: '\u0000' } } }, 'a text with NUL'],
])('%s is refused, as the document says in words', async (_what, request, words) => {
  expect((await send(request)).status).toBe(400);
  expect(document.allows(request)).toBe(true);
  expect(JSON.stringify((await mail.call('GET', '/docs/json')).body)).toContain(words);
}); // oxfmt-ignore
