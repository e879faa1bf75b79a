import { DAY_MS } from '@platform/service-kit';
import { waitFor } from '@platform/testing';
import { startMailWithServer } from '../mail-with-server.js';

const queueTimes = { leaseMs: 30_000, upkeepMs: 100, keyLifetimeMs: DAY_MS };
const { mail, smtp } = await startMailWithServer({ queueTimes });
afterAll(() => mail.close());

interface Content {
  readonly html: string;
  readonly text: string;
}

const getContent = (id: string, token = mail.session) =>
  mail.call('GET', `/api/v1/mail/records/${id}/content`, { token });

/** Sends a mail and returns its record and its stored row. */
async function send(fields: object): Promise<{ id: string; row: string }> {
  await mail.send(fields);
  const { rows } = await mail.db.query<{ id: string; row: string }>(
    'select id, mails::text as row from mails order by id desc limit 1',
  );
  return rows[0] as { id: string; row: string };
}

const invite = (fields: object = {}) => ({
  emailTemplateType: 'appuserInvite',
  sendEmailTo: ['ada@example.com'],
  subject: 'You are invited',
  templateData: {
    userName: 'Ada <b>Lovelace</b>',
    companyName: 'Example',
    inviteLink: 'https://app.example/invite#token=of-nobody-else',
  },
  ...fields,
});

test('MAIL-20: an administrator sees a mail as it went out, without its link', async () => {
  const { id, row } = await send(invite());
  const { status, body, headers } = await getContent(id);
  const { html, text } = body.data as Content;
  expect([status, headers.get('cache-control')]).toEqual([200, 'no-store']);
  expect(html).toContain('Hello Ada &#60;b&#62;Lovelace&#60;/b&#62;,');
  expect(text).toContain('https://hidden.invalid/');
  for (const kept of [html, text, row]) expect(kept).not.toContain('of-nobody-else');
  expect(row).not.toContain('Lovelace');
});

test('a code is hidden wherever the caller has put it', async () => {
  const templateData = { userName: 'Ada, 493817', companyName: 'Code 493817', otp: 493_817 };
  const { id } = await send({ emailTemplateType: 'loginWithOTP', templateData, productName: '493817' });
  const { html, text } = (await getContent(id)).body.data as Content;
  for (const kept of [html, text]) expect(kept).not.toContain('493817');
  expect(text).toContain('••••••');
});

test('the content of a mail that failed is shown as well, and the content of a mail in no organisation of the caller is a 404', async () => {
  smtp.behave((step) => (step === 'MAIL' ? '550 no' : undefined));
  const { id } = await send(invite());
  smtp.behave(() => undefined);
  expect(((await getContent(id)).body.data as Content).text).toContain('Hello Ada');
  await mail.db.query('update mails set org_id = gen_random_uuid() where id = $1', [id]);
  const foreign = await getContent(id);
  expect([foreign.status, foreign.body.error.message]).toEqual([404, 'Mail record not found']);
});

test('a token reads no contents', async () => {
  const { id } = await send(invite());
  expect((await getContent(id, mail.token)).status).toBe(403);
});

test('the content is deleted with a recipient who is erased, and cannot be read as that of another mail', async () => {
  const shared = await send(invite({ sendEmailTo: ['ada@example.com', 'bob@example.com'] }));
  const other = await send(invite({ sendEmailTo: ['bob@example.com'] }));
  await mail.db.query(
    'update mails set sealed_content = (select sealed_content from mails where id = $1) where id = $2',
    [shared.id, other.id],
  );
  expect((await getContent(other.id)).body).toEqual({ data: null });
  await mail.call('DELETE', '/api/v1/mail/records?recipient=ada@example.com', { token: mail.session });
  expect((await getContent(shared.id)).body).toEqual({ data: null });
  const { rows } = await mail.db.query('select sealed_content from mails where id = $1', [shared.id]);
  expect(rows).toEqual([{ sealed_content: null }]);
});

test('the content is deleted after UNSENT_MAILS_KEPT_DAYS, while the record of a sent mail stays', async () => {
  const { id } = await send(invite({ sendEmailTo: ['grace@example.com'] }));
  await mail.db.query(`update mails set created_at = created_at - interval '31 days' where id = $1`, [id]);
  await waitFor(async () => (await getContent(id)).body.data === null, {
    what: 'the upkeep',
  });
  expect((await mail.call('GET', `/api/v1/mail/records/${id}`, { token: mail.session })).status).toBe(200);
});
