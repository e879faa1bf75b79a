import PostalMime from 'postal-mime';
import { createAdministrator } from '../mail.js';
import { startMailWithServer } from '../mail-with-server.js';

const path = '/api/v1/mail/brand';
const logo =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const brand = {
  name: 'Bücher <b>& Co</b>',
  logo,
  accentColor: '#0a7d33',
  footer: 'Bücher & Co, Hauptstraße 1, 10115 Berlin',
  replyTo: 'help@corp.example',
};

const { mail, smtp } = await startMailWithServer();
afterAll(() => mail.close());
beforeEach(async () => {
  smtp.accepted.length = 0;
  await save({});
});

const save = (body: object) => mail.call('PUT', path, { token: mail.session, body });
const reset = { companyName: 'Example', resetLink: 'https://app.example/reset', validForMinutes: 60 };
const sendReset = async (fields: object = {}) => {
  const { status } = await mail.send({
    emailTemplateType: 'resetPassword',
    templateData: reset,
    ...fields,
  });
  expect(status).toBe(200);
  const { raw = '' } = smtp.accepted.at(-1) ?? {};
  return { raw, ...(await PostalMime.parse(raw)) };
};

test('mails look as they always did without a brand', async () => {
  const { html, text, replyTo, attachments } = await sendReset();
  expect([replyTo, attachments]).toEqual([undefined, []]);
  expect(html).not.toContain('<img');
  expect(html).toContain('#2f5bd7');
  expect(text).toContain('Sent by Example.');
});

test('mails carry the name, the logo, the colour, the foot and the reply address of the organisation', async () => {
  expect((await save(brand)).body).toEqual({ data: brand });
  expect((await mail.call('GET', path, { token: mail.session })).body).toEqual({ data: brand });
  const { raw, html = '', text, replyTo, attachments } = await sendReset();
  expect(replyTo).toEqual([expect.objectContaining({ address: 'help@corp.example' })]);
  expect(attachments).toEqual([
    expect.objectContaining({ contentId: '<logo@brand>', disposition: 'inline', mimeType: 'image/png' }),
  ]);
  expect(Buffer.from(attachments[0]?.content as ArrayBuffer).toString('base64')).toBe(logo);
  expect(raw).toContain('multipart/related');
  expect(html).toContain('src="cid:logo@brand"');
  expect(html).toContain('alt="B&#252;cher &#60;b&#62;&#38; Co&#60;/b&#62;"');
  expect(html).toContain('#0a7d33');
  expect(html).not.toContain('#2f5bd7');
  expect(html).not.toMatch(/src="(?!cid:)/);
  expect(html.replaceAll(/\s+/g, ' ')).toContain('Hauptstra&#223;e 1, 10115 Berlin');
  expect(text).toContain('Bücher & Co, Hauptstraße 1, 10115 Berlin');
});

test.each(['safe\u202egnp.exe', 'a\u2066b', 'a\u0007b', '\u200b'])(
  'the name %j is shown nowhere: neither as that of the brand nor as that of a product',
  async (name) => {
    for (const field of ['name', 'footer']) {
      const { status, body } = await save({ ...brand, [field]: name });
      expect([status, body.error.details[0].field]).toEqual([400, field]);
    }
    const email = { emailTemplateType: 'resetPassword', templateData: reset, productName: name };
    expect((await mail.send(email)).status).toBe(400);
  },
);

test('a queued mail has the brand too, and a product name of the caller goes before that of the brand', async () => {
  await save(brand);
  await mail.send(
    { emailTemplateType: 'loginWithOTP', productName: 'Atlas' },
    { prefer: 'respond-async, wait=20' },
  );
  const { text, attachments } = await PostalMime.parse(smtp.accepted.at(-1)?.raw ?? '');
  expect(text).toMatch(/^Atlas\n/);
  expect(attachments).toHaveLength(1);
});

test('a mail has the language of its request, or else that of the organisation, or else English', async () => {
  expect((await sendReset()).text).toContain('Choose a new password');
  await save({ ...brand, language: 'de' });
  const {
    raw,
    html = '',
    text: wrapped = '',
  } = await sendReset({ templateData: { ...reset, userName: 'Zoë' } });
  const text = wrapped.replaceAll(/(?<=\S)\n(?=\S)/g, ' ');
  expect(html).toContain('<html lang="de"');
  expect(html.replaceAll(/\s+/g, ' ')).toContain('F&#252;r Ihr Konto bei');
  expect(text).toContain('\nGuten Tag Zoë,\n\nfür Ihr Konto bei Bücher <b>& Co</b> (Example)');
  expect(text).toContain('Der Link kann nur einmal verwendet werden und ist 1 Stunde gültig.');
  expect(text).toContain('Gesendet von Bücher <b>& Co</b> im Auftrag von Example.');
  expect(raw).toMatch(/^Subject: Your code\r$/m);
  expect((await sendReset({ language: 'en' })).text).toContain('Sent by');
  await save({ language: 'en' });
  await mail.send(
    { emailTemplateType: 'loginWithOTP', language: 'de' },
    { prefer: 'respond-async, wait=20' },
  );
  expect((await PostalMime.parse(smtp.accepted.at(-1)?.raw ?? '')).text).toContain('Ihr Anmeldecode');
  // The language of the request is kept with the mail.
  const { body: records } = await mail.call('GET', '/api/v1/mail/records?limit=1', { token: mail.session });
  const kept = await mail.call('GET', `/api/v1/mail/records/${records.data[0].id}/content`, {
    token: mail.session,
  });
  expect(kept.body.data.html).toContain('<html lang="de"');
  const preview = await mail.call('POST', '/api/v1/mail/preview', {
    token: mail.session,
    body: { emailTemplateType: 'accountCreation', templateData: {}, language: 'de' },
  });
  expect(preview.body.subject).toBe('Ihr Konto ist eingerichtet');
  const refused = await mail.send({ language: 'fr' });
  expect([refused.status, refused.body.error.details[0].field]).toEqual([400, 'language']);
});

test.each([
  ['#ffe600', '#111827'],
  ['#0a7d33', '#ffffff'],
])('the text of a button of %s is %s', async (accentColor, expected) => {
  await save({ accentColor });
  const { html = '' } = await sendReset();
  const [button = ''] = /<a\s[^>]*>\s*Choose a new password/.exec(html) ?? [];
  expect(button.replaceAll(/\s+/g, '')).toContain(`background:${accentColor};color:${expected};`);
});

test('the preview and a kept mail show the logo without an attachment', async () => {
  await save(brand);
  await sendReset();
  const preview = await mail.call('POST', '/api/v1/mail/preview', {
    token: mail.session,
    body: { emailTemplateType: 'accountCreation', templateData: {} },
  });
  const { body: records } = await mail.call('GET', '/api/v1/mail/records?limit=1', { token: mail.session });
  const kept = await mail.call('GET', `/api/v1/mail/records/${records.data[0].id}/content`, {
    token: mail.session,
  });
  for (const html of [preview.body.html, kept.body.data.html])
    expect(html).toContain(`src="data:image/png;base64,${logo}"`);
});

test('administrators see and change the brand of their organisation, in a session', async () => {
  await save(brand);
  const other = await createAdministrator();
  expect((await mail.call('GET', path, { token: other.session })).body).toEqual({ data: {} });
  for (const method of ['GET', 'PUT'])
    expect(
      (await mail.call(method, path, { token: mail.token, ...(method === 'PUT' && { body: {} }) })).status,
    ).toBe(403);
});

const bytes = Buffer.from(logo, 'base64');
test.each<[string, object, string]>([
  ['a text for a logo', { logo: Buffer.from('<svg/>').toString('base64') }, 'logo'],
  ['no base64', { logo: 'a b' }, 'logo'],
  [
    'a PNG with something after it',
    { logo: Buffer.concat([bytes, Buffer.from('x')]).toString('base64') },
    'logo',
  ],
  ['half a PNG', { logo: bytes.subarray(0, 40).toString('base64') }, 'logo'],
  ['a footer with a control character', { footer: 'a\u0000' }, 'footer'],
  ['a reply address with a second header', { replyTo: 'a@b.example\r\nBcc: c@d.example' }, 'replyTo'],
])('rejects %s with 400', async (_name, body, field) => {
  const { status, body: answer } = await save(body);
  expect([status, answer.error.details.map((detail: { field: string }) => detail.field)]).toEqual([
    400,
    [field],
  ]);
});
