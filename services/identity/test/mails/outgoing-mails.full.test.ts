import { createServer } from 'node:http';
import { callUrl, waitFor } from '@platform/testing';
import { serviceClient } from '../identity.js';
import { environmentFor, startServer } from '../process/process.js';
import { mailClientSecret } from '../sign-in/account-flows/mail-service.js';
import { codeIn, type Platform, startPlatform, tokenIn } from '../sign-in/account-flows/platform.js';
import { password } from '../sign-in/account-flows/users.js';

const platform = await startPlatform();
afterAll(() => platform.close());
// Each test begins with an empty outbox.
beforeEach(() => platform.drained());

interface Row {
  readonly kind: string;
  readonly attempts: number;
  readonly sealed_message: string | null;
}
const rows = async (): Promise<Row[]> =>
  (await platform.identity.db.query<Row>('select * from outgoing_mails order by id')).rows;

test('requests succeed while the mail service is down, and the mails are delivered later, once', async () => {
  const member = await platform.createUser();
  await platform.drained();
  await platform.mail.stop();
  const invited = await platform.createUser({});
  expect((await platform.post('otp', { email: member.email })).status).toBe(202);
  await waitFor(async () => (await rows()).every(({ attempts }) => attempts >= 2), { what: 'a second attempt' });
  const waiting = await rows();
  expect(waiting.map(({ kind }) => kind)).toEqual(['invitation', 'login_code']);
  // Neither the table nor the log reveals the link or the code.
  expect(waiting.every(({ sealed_message: sealed }) => sealed?.startsWith('v1.k1.'))).toBe(true);
  await platform.mail.start();
  const token = tokenIn(await platform.mailTo(invited.email, /invited/));
  const otp = codeIn(await platform.mailTo(member.email, /code/));
  await platform.drained();
  expect([platform.mailsTo(invited.email).length, platform.mailsTo(member.email).length]).toEqual([1, 2]);
  expect((await platform.post('invitations/accept', { token, password })).status).toBe(200);
  expect((await platform.post('login', { email: member.email, otp })).status).toBe(200);
  for (const secret of [token, otp, member.email]) expect(platform.identity.logged()).not.toContain(secret);
}); // oxfmt-ignore

test('a mail is deleted once the mail service has stored it, which retries a temporary SMTP failure with the same link', async () => {
  platform.inbox.isBusy = true;
  const { email } = await platform.createUser({});
  await waitFor(async () => (await platform.mail.hurry()).some((attempts) => attempts >= 2), {
    what: 'a second attempt',
  }).finally(() => {
    platform.inbox.isBusy = false;
  });
  expect(await rows()).toEqual([]);
  await platform.drained();
  const token = tokenIn(await platform.mailTo(email, /invited/));
  expect((await platform.post('invitations/accept', { token, password })).status).toBe(200);
  expect(platform.mailsTo(email).filter(({ subject }) => /invited/.test(subject ?? ''))).toHaveLength(1);
});

test('delivers waiting mails once the organisation has configured an SMTP server', async () => {
  const other = await platform.identity.createOrganisation('admin@elsewhere.example');
  const create = { email: 'new@elsewhere.example', fullName: 'New\u00a0 \u3000Name' };
  await platform.identity.call('POST', '/api/v1/users', { token: other.session, body: create });
  await waitFor(async () => (await rows())[0]?.attempts, { what: 'an attempt' });
  const smtp = { host: '127.0.0.1', port: platform.inbox.port, fromEmail: 'noreply@elsewhere.example', tls: 'none' };
  await platform.identity.call('POST', '/api/v1/configurationManager/smtpConfig', { token: other.session, body: smtp });
  const mail = await platform.mailTo(create.email, /invited/);
  expect(mail.from?.address).toBe('noreply@elsewhere.example');
  expect(mail.text).toContain('Hello New Name,');
}); // oxfmt-ignore

test('passes the id of the causing request to the mail service, which passes it back to identity', async () => {
  const { email } = await platform.createUser();
  const requestId = 'asked-for-a-code';
  await platform.post('otp', { email }, { 'x-request-id': requestId });
  await platform.mailTo(email, /code/);
  const ofRequest = (lines: ReturnType<Platform['mail']['logged']>) =>
    lines.filter((line) => line.requestId === requestId).map(({ req }) => req?.path);
  await waitFor(() => ofRequest(platform.mail.logged()).length > 0, { what: 'the line of the mail service' });
  expect(ofRequest(platform.mail.logged())).toEqual(['/api/v1/mail/internal/sendEmail']);
  const lines = platform.identity.logged().split('\n').filter(Boolean);
  const paths = ofRequest(lines.map((line) => JSON.parse(line) as { requestId?: string }));
  expect(paths).toContain('/api/v1/auth/otp');
  expect(paths).toContain('/api/v1/oauth2/introspect');
});

const getInvitation = async (id: string) => {
  const list = await platform.identity.call('GET', '/api/v1/users', { token: platform.session });
  return (list.body.data as { id: string; invitation: { state: string } | null }[]).find(
    (member) => member.id === id,
  )?.invitation;
};
/** Waits until the mail service has reported what became of the invitation. */
const waitForOutcome = (id: string) =>
  waitFor(
    async () => {
      const invitation = await getInvitation(id);
      return invitation?.state === 'pending' ? undefined : invitation;
    },
    { what: 'the outcome of the invitation' },
  );

test('gives up a mail whose outcome is unknown, and shows that at the member', async () => {
  platform.inbox.isForgetful = true;
  const invited = await platform.createUser({});
  const member = await platform.createUser();
  await platform.drained();
  await platform.post('otp', { email: member.email });
  await platform.drained();
  // The member has a notice and a code. Only security notices are sent twice.
  expect([platform.mailsTo(invited.email).length, platform.mailsTo(member.email).length]).toEqual([1, 2]);
  expect(await waitForOutcome(invited.id)).toEqual({
    state: 'unknown',
    reason: 'The SMTP server did not say whether it accepted the invitation: it may have arrived',
  });
  platform.inbox.isForgetful = false;
  const [first] = platform.mailsTo(invited.email).map(tokenIn);
  // The invitee may request the link again.
  await platform.post('password/forgot', { email: invited.email });
  await platform.mailTo(invited.email, /invited/, 2);
  expect(await getInvitation(invited.id)).toEqual({ state: 'pending' });
  expect((await platform.post('invitations/accept', { token: first ?? '', password })).status).toBe(200);
});

test('attempts an invitation to an unknown recipient once, and shows the reason at the member', async () => {
  const email = 'nobody-here@example.com';
  platform.inbox.unknown.add(email);
  const create = { email, fullName: 'Ada Typo' };
  const { body } = await platform.identity.call('POST', '/api/v1/users', {
    token: platform.session,
    body: create,
  });
  expect(await waitForOutcome(body.user.id as string)).toEqual({
    state: 'undeliverable',
    reason: 'The recipient does not exist (550 5.1.1)',
  });
  // The mailbox exists by now: when the invitee requests a new link, the mark is removed.
  platform.inbox.unknown.delete(email);
  await platform.post('password/forgot', { email });
  const token = tokenIn(await platform.mailTo(email, /invited/));
  expect(await getInvitation(body.user.id as string)).toEqual({ state: 'pending' });
  expect((await platform.post('invitations/accept', { token, password })).status).toBe(200);
  expect(await getInvitation(body.user.id as string)).toBeNull();
});

test('shows that an invitation was refused however long the mail service was unavailable', async () => {
  await platform.mail.stop();
  const email = 'nobody-yet@example.com';
  platform.inbox.unknown.add(email);
  const create = { email, fullName: 'Ada Away' };
  const { body } = await platform.identity.call('POST', '/api/v1/users', {
    token: platform.session,
    body: create,
  });
  await waitFor(async () => (await rows())[0]?.attempts, { what: 'an attempt' });
  await platform.identity.db.query(`update outgoing_mails set created_at = created_at - interval '3 days'`);
  expect(await getInvitation(body.user.id as string)).toEqual({ state: 'pending' });
  await platform.mail.start();
  // The pause has grown while the mail service was unavailable, and started.
  await platform.identity.db.query('update outgoing_mails set next_attempt_at = now()');
  expect((await waitForOutcome(body.user.id as string))?.state).toBe('undeliverable');
  // The mailbox exists by now: the mark is removed when an administrator sends the mail again, too.
  platform.inbox.unknown.delete(email);
  const records = `${platform.mail.url}/api/v1/mail/records`;
  const headers = { authorization: `Bearer ${platform.session}` };
  const found = await fetch(`${records}?state=failed&recipient=${email}`, { headers });
  const [failed] = ((await found.json()) as { data: { id: string }[] }).data;
  const resent = await fetch(`${records}/${failed?.id}/resend`, { method: 'POST', headers });
  expect(resent.status).toBe(200);
  await waitFor(async () => (await getInvitation(body.user.id as string))?.state === 'pending', {
    what: 'the end of the mark',
  });
});

test('shows at the member that the mail service does not take an invitation', async () => {
  await platform.mail.stop();
  const tooLarge = { error: { code: 'PAYLOAD_TOO_LARGE', message: 'Request body is too large' } };
  const refusing = createServer((request, response) => {
    request.resume();
    response.writeHead(413, { 'content-type': 'application/json' }).end(JSON.stringify(tooLarge));
  });
  await new Promise<void>((resolve) =>
    refusing.listen(Number(new URL(platform.mail.url).port), '127.0.0.1', resolve),
  );
  try {
    const { id } = await platform.createUser({});
    expect(await waitForOutcome(id)).toEqual({
      state: 'undeliverable',
      reason: 'The mail service refused it, because it is too large or malformed',
    });
  } finally {
    refusing.closeAllConnections();
    await new Promise((resolve) => refusing.close(resolve));
    await platform.mail.start();
  }
});

const INVITATIONS = 60;

/** A second replica over the same database and mail service, as a process that can be killed. */
const startReplica = () =>
  startServer({
    ...environmentFor(platform.identity.databaseUrl),
    MAIL_URL: platform.mail.url,
    SERVICE_CLIENTS: `${serviceClient.id}:${serviceClient.secret},mail:${mailClientSecret}`,
  });

async function invite(url: string, round: string): Promise<string[]> {
  const emails = Array.from({ length: INVITATIONS / 2 }, (_value, index) => `${round}-${index}@example.com`);
  for (const email of emails) {
    const options = { token: platform.session, body: { email, fullName: 'Ada' } };
    expect((await callUrl(`${url}/api/v1/users`, 'POST', options)).status).toBe(201);
  }
  return emails;
}
const copies = (emails: readonly string[]) => emails.map((email) => platform.mailsTo(email).length);
const once = Array.from({ length: INVITATIONS }, () => 1);

test('two replicas send each mail of a shared outbox exactly once', async () => {
  const replica = await startReplica();
  const emails = (
    await Promise.all([invite(platform.identity.url, 'first'), invite(replica.url, 'second')])
  ).flat();
  await platform.drained();
  expect(copies(emails)).toEqual(once);
  replica.child.kill('SIGTERM');
  expect((await replica.exit).code).toBe(0);
});

test('a replica sends the mails that a killed one had claimed, once', async () => {
  await platform.mail.stop();
  const replica = await startReplica();
  const emails = (
    await Promise.all([invite(platform.identity.url, 'third'), invite(replica.url, 'fourth')])
  ).flat();
  await platform.mail.start();
  await waitFor(() => emails.some((email) => platform.mailsTo(email).length > 0), { what: 'a mail' });
  replica.child.kill('SIGKILL');
  await replica.exit;
  // The leases of the killed replica expire, and those of the survivor too.
  platform.identity.advance(31_000);
  await platform.drained();
  expect(copies(emails)).toEqual(once);
});

test('the metrics show how many mails wait and the age of the oldest', async () => {
  const value = async (name: string) => {
    const { text } = await platform.identity.call('GET', '/metrics');
    return Number(new RegExp(`^${name}(?:\\{.*\\})? (\\S+)$`, 'm').exec(text)?.[1]);
  };
  expect([await value('platform_outgoing_mails_waiting'), await value('platform_outgoing_mails_oldest_age_seconds')]).toEqual([0, 0]);
  await platform.mail.stop();
  await platform.createUser({});
  await platform.createUser({});
  platform.identity.advance(90_000);
  expect(await value('platform_outgoing_mails_waiting')).toBe(2);
  expect(await value('platform_outgoing_mails_oldest_age_seconds')).toBeGreaterThanOrEqual(90);
  await platform.mail.start();
}); // oxfmt-ignore

// This test is the last, because it advances the clock of identity but not that of the mail service.
test('does not send a mail whose code or link has expired, which is a fact', async () => {
  const { email } = await platform.createUser();
  await platform.drained();
  await platform.mail.stop();
  await platform.post('otp', { email });
  await waitFor(async () => (await rows())[0]?.attempts, { what: 'an attempt' });
  platform.identity.advance(10 * 60_000);
  await platform.mail.start();
  // Asked after the other was due: it overtakes nothing.
  await platform.post('password/forgot', { email });
  await platform.mailTo(email, /new password/);
  expect(platform.mailsTo(email).some(({ subject }) => /code/.test(subject ?? ''))).toBe(false);
  await platform.identity.sweep();
  const path = '/api/v1/events?types=mail.failed';
  const { body } = await platform.identity.call('GET', path, { token: platform.session });
  expect(body.data.at(-1).data).toMatchObject({
    emailTemplateType: 'loginWithOTP',
    recipients: 1,
    problem: { code: 'EEXPIRED' },
  });
});
