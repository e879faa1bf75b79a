import { callUrl, waitFor } from '@platform/testing';
import { serviceClient } from '../../identity.js';
import { environmentFor, startServer } from '../../process/process.js';
import { mailClientSecret } from './mail-service.js';
import { startPlatform } from './platform.js';

const INVITATIONS = 60;

const platform = await startPlatform();
afterAll(() => platform.close());

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
  expect([await value('outgoing_mails_waiting'), await value('outgoing_mails_oldest_age_seconds')]).toEqual([0, 0]);
  await platform.mail.stop();
  await platform.createUser({});
  await platform.createUser({});
  platform.identity.advance(90_000);
  expect(await value('outgoing_mails_waiting')).toBe(2);
  expect(await value('outgoing_mails_oldest_age_seconds')).toBeGreaterThanOrEqual(90);
  await platform.mail.start();
}); // prettier-ignore
