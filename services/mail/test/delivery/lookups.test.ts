import { lookup } from 'node:dns/promises';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { callUrl, waitFor } from '@platform/testing';
import { createHostResolver } from '@platform/service-kit';
import { createAdministrator, emailBody, startMail } from '../mail.js';
import { startNameServer } from '../name-server.js';
import { startSmtp } from '../smtp-server.js';

const folder = await mkdtemp(join(tmpdir(), 'platform-lookups-'));
const nameServer = await startNameServer({
  'mx.corp.test': ['192.0.2.1', '2001:db8:0:0:0:0:0:1'],
  'relay.mail.svc.cluster.test': ['192.0.2.2'],
  'smtp.corp.test': ['127.0.0.1'],
  'dead.corp.test': 'silent',
});
afterAll(async () => {
  await nameServer.close();
  await rm(folder, { recursive: true });
});
beforeEach(() => {
  nameServer.asked.length = 0;
});

/** @param configuration - the content of resolv.conf. */
async function resolve(host: string, configuration = '', signal = new AbortController().signal) {
  const [hostsFile, configurationFile] = [join(folder, 'hosts'), join(folder, 'resolv.conf')];
  await writeFile(hostsFile, '127.0.0.1\tlocalhost\n::1 localhost # both\n10.1.2.3 Extra.corp.test extra\n');
  await writeFile(configurationFile, configuration);
  const resolveHost = createHostResolver({ servers: [nameServer.address], hostsFile, configurationFile });
  return (await resolveHost(host, signal)).map(({ address, family }) => `${address} ${family}`);
}

test('a host resolves to the addresses of both families, IPv4 first', async () => {
  expect(await resolve('mx.corp.test')).toEqual(['192.0.2.1 4', '2001:db8::1 6']);
  await expect(resolve('nowhere.corp.test')).rejects.toMatchObject({ code: 'ENOTFOUND' });
});

test('an address and a name in the hosts file are resolved without a query', async () => {
  expect(await resolve('192.0.2.7')).toEqual(['192.0.2.7 4']);
  expect(await resolve('localhost')).toEqual(['127.0.0.1 4', '::1 6']);
  expect(await resolve('extra.corp.test')).toEqual(['10.1.2.3 4']);
  expect(nameServer.asked).toEqual([]);
});

test('short names are looked up in the search domains, in the order of resolv.conf', async () => {
  const cluster = 'nameserver 10.96.0.10\nsearch apps.svc.cluster.test svc.cluster.test\noptions ndots:5\n';
  expect(await resolve('relay.mail', cluster)).toEqual(['192.0.2.2 4']);
  expect([...new Set(nameServer.asked)]).toEqual([
    'relay.mail.apps.svc.cluster.test',
    'relay.mail.svc.cluster.test',
  ]);
  nameServer.asked.length = 0;
  expect(await resolve('mx.corp.test', 'search svc.cluster.test')).toHaveLength(2);
  expect(await resolve('mx.corp.test.', cluster)).toHaveLength(2);
  expect(new Set(nameServer.asked)).toEqual(new Set(['mx.corp.test']));
});

test('an unanswered lookup ends when it is aborted', async () => {
  const ending = new AbortController();
  const resolving = resolve('dead.corp.test', '', ending.signal);
  await waitFor(() => nameServer.asked.length > 0, { what: 'the query' });
  ending.abort();
  await expect(resolving).rejects.toMatchObject({ code: 'ECANCELLED' });
});

test('unresponsive name servers of one organisation delay neither other mails nor other lookups', async () => {
  const smtp = await startSmtp();
  const mail = await startMail({
    environment: { SEND_DEADLINE_MS: '5000', SMTP_TIMEOUT_MS: '30000' },
    resolveHost: createHostResolver({ servers: [nameServer.address] }),
  });
  await mail.configure({ host: 'smtp.corp.test', port: smtp.port, fromEmail: 'noreply@corp.test' });
  const other = await createAdministrator();
  await other.identity('POST', '/api/v1/configurationManager/smtpConfig', {
    token: other.session,
    body: { host: 'dead.corp.test', port: smtp.port, fromEmail: 'noreply@corp.test' },
  });
  const otherToken = await other.createToken(['SEND_MAIL']);
  const stuck = Array.from({ length: 20 }, () =>
    callUrl(`${mail.url}/api/v1/mail/emails/sendEmail`, 'POST', { token: otherToken, body: emailBody() }),
  );
  await waitFor(() => nameServer.asked.filter((name) => name === 'dead.corp.test').length >= 10, {
    what: 'lookups that hang',
  });
  const isStuck = () => Promise.race([Promise.any(stuck).then(() => false), delay(0, true)]);
  expect((await mail.send()).status).toBe(200);
  await lookup('localhost');
  expect(await isStuck()).toBe(true);
  const responses = await Promise.all(stuck);
  expect(new Set(responses.map(({ status }) => status))).toEqual(new Set([500]));
  await mail.close();
  await smtp.close();
});
