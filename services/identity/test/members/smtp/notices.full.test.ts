import { waitFor } from '@platform/testing';
import { type Inbox, startInbox } from '../../sign-in/account-flows/mail-service.js';
import { type Platform, startPlatform } from '../../sign-in/account-flows/platform.js';

/* Every administrator is notified of a changed SMTP server, through the old server and the new one. */

const path = '/api/v1/configurationManager/smtpConfig';
const subject = /^The mail server was (?:changed|removed)$/;
let platform: Platform;
let next: Inbox;
let other: { email: string; session: string };

beforeAll(async () => {
  platform = await startPlatform();
  next = await startInbox();
  other = await platform.identity.createMember(platform.session, 'admin');
  await platform.identity.createMember(platform.session);
  await platform.createUser({ role: 'admin' });
  await platform.drained();
});
afterAll(async () => {
  await platform.close();
  await next.close();
});

const oldServer = () => ({
  host: '127.0.0.1',
  port: platform.inbox.port,
  fromEmail: 'noreply@corp.example',
  tls: 'none',
});
const newServer = () => ({
  host: '127.0.0.1',
  port: next.port,
  fromEmail: 'elsewhere@corp.example',
  tls: 'none',
});
const save = (body: object) =>
  platform.identity.call('POST', path, {
    token: platform.session,
    body,
    headers: { 'x-forwarded-for': '203.0.113.9', 'user-agent': 'curl/8.5.0' },
  });
const noticesIn = ({ mails }: Inbox) => mails.filter((mail) => subject.test(mail.subject ?? ''));
const addressees = (inbox: Inbox): string[] =>
  noticesIn(inbox)
    .map(({ to }) => to?.[0]?.address ?? '')
    .toSorted();
const clear = () => {
  platform.inbox.mails.length = 0;
  next.mails.length = 0;
};
beforeEach(async () => {
  await save(oldServer());
  await platform.drained();
  clear();
});

test('sends no notice of the first server or of a save that changes nothing', async () => {
  const { session } = await platform.identity.createOrganisation('first@elsewhere.example');
  const first = await platform.identity.call('POST', path, { token: session, body: oldServer() });
  expect([first.status, (await save(oldServer())).status]).toEqual([200, 200]);
  await platform.drained();
  expect(noticesIn(platform.inbox)).toEqual([]);
});

test('sends a notice of a change through both servers to all administrators who can log in, with who, when and from where', async () => {
  expect((await save(newServer())).status).toBe(200);
  await platform.drained();
  const everybody = ['admin@example.com', other.email];
  expect([addressees(platform.inbox), addressees(next)]).toEqual([everybody, everybody]);
  for (const [inbox, from] of [
    [platform.inbox, 'noreply@corp.example'],
    [next, 'elsewhere@corp.example'],
  ] as const)
    for (const mail of noticesIn(inbox)) {
      expect(mail.from?.address).toBe(from);
      for (const line of [
        'Changed by: Administrator (admin@example.com)',
        'IP address: 203.0.113.9',
        'Device: curl',
      ])
        expect(mail.text).toContain(line);
      expect(mail.text).toContain(`Old server: 127.0.0.1:${platform.inbox.port} (noreply@corp.example)`);
      expect(mail.text).toContain(`New server: 127.0.0.1:${next.port} (elsewhere@corp.example)`);
    }
});

test('sends a notice of a removal through the removed server, and a notice of the next server names the removed one', async () => {
  const remove = () => platform.identity.call('DELETE', path, { token: platform.session });
  for (let round = 0; round < 2; round += 1) {
    clear();
    expect((await remove()).status).toBe(200);
    await platform.drained();
    const removed = round === 0 ? platform.inbox : next;
    expect(addressees(removed)).toEqual(['admin@example.com', other.email]);
    expect(noticesIn(removed)[0]?.text).toContain('The mail server was removed');
    clear();
    expect((await save(newServer())).status).toBe(200);
    await platform.drained();
    expect([addressees(platform.inbox), addressees(next)]).toEqual([[], ['admin@example.com', other.email]]);
    const { text = '' } = noticesIn(next)[0] ?? {};
    const [port, from] = round === 0 ? [platform.inbox.port, 'noreply'] : [next.port, 'elsewhere'];
    expect(text).toContain(`Old server: 127.0.0.1:${port} (${from}@corp.example)`);
    expect(text).toContain(`New server: 127.0.0.1:${next.port} (elsewhere@corp.example)`);
  }
  // A removal in another organisation doesn't affect this one.
  const { session } = await platform.identity.createOrganisation('first-again@elsewhere.example');
  clear();
  await platform.identity.call('POST', path, { token: session, body: newServer() });
  await platform.drained();
  expect(noticesIn(next)).toEqual([]);
});

test('a dead old server does not delay the change, and sends the notice when it is back', async () => {
  platform.inbox.isBusy = true;
  expect((await save(newServer())).status).toBe(200);
  await waitFor(() => noticesIn(next).length === 2, { what: 'the notices through the new server' });
  expect(noticesIn(platform.inbox)).toEqual([]);
  platform.inbox.isBusy = false;
  const isNotified = async () => (await platform.mail.hurry()) && noticesIn(platform.inbox).length === 2;
  await waitFor(isNotified, { what: 'the notices through the old server' });
  await platform.drained();
  expect([addressees(platform.inbox), addressees(next)]).toEqual([
    ['admin@example.com', other.email],
    ['admin@example.com', other.email],
  ]);
});

test('stores waiting notices sealed, without a password in the database, the audit, a mail or the log', async () => {
  const password = 's3cret-value-of-the-server';
  const secured = { ...newServer(), username: 'u', password };
  await platform.mail.stop();
  expect((await save(secured)).status).toBe(200);
  const { rows } = await platform.identity.db.query<{ sealed: string; row: string }>(
    `select sealed_message as sealed, outgoing_mails::text as row from outgoing_mails where kind = 'smtp_changed'`,
  );
  // Two administrators are notified through both servers.
  expect(rows).toHaveLength(4);
  for (const { sealed } of rows) expect(sealed).toMatch(/^v1\.k1\./);
  const audit = await platform.identity.call('GET', '/api/v1/audit?limit=100', { token: platform.session });
  const mails = JSON.stringify(platform.inbox.mails);
  expect(JSON.stringify(rows) + audit.text + platform.identity.logged() + mails).not.toContain(password);
  // The new server offers no login, so its password isn't sent, and its notices wait.
  await platform.mail.start();
  const isNotified = async () => (await platform.mail.hurry()) && noticesIn(platform.inbox).length === 2;
  await waitFor(isNotified, { what: 'the notices through the old server' });
  expect(noticesIn(next)).toEqual([]);
});
