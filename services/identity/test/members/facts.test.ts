import { randomUUID } from 'node:crypto';
import type { ReportedFact } from '@platform/events';
import { waitFor } from '@platform/testing';
import { serviceClient } from '../identity.js';
import { type Platform, startPlatform } from '../sign-in/account-flows/platform.js';

let platform: Platform;
beforeAll(async () => {
  platform = await startPlatform();
});
afterAll(() => platform.close());

async function getServiceToken(): Promise<string> {
  const basic = Buffer.from(`${serviceClient.id}:${serviceClient.secret}`).toString('base64');
  const { body } = await platform.identity.call('POST', '/api/v1/oauth2/token', {
    raw: 'grant_type=client_credentials',
    headers: { authorization: `Basic ${basic}`, 'content-type': 'application/x-www-form-urlencoded' },
  });
  return body.access_token as string;
}

const report = (token: string, facts: readonly object[]) =>
  platform.identity.call('POST', '/api/v1/internal/facts', { token, body: { facts } });

const toCrawlFact = (given: {
  connector: string;
  failures: number;
  reason: string | null;
  orgId?: string;
}) => {
  const { orgId = platform.identity.orgId, ...data } = given;
  return {
    id: randomUUID(),
    orgId,
    type: data.failures === 0 ? 'crawl.recovered' : 'crawl.failing',
    at: new Date().toISOString(),
    data: { ...data, instance: 'default', name: data.connector },
  };
};
const endHold = () => platform.identity.db.query('update outgoing_mails set next_attempt_at = now()');

const toEntry = (id: string, data: object = {}): ReportedFact & { readonly type: 'audit.entry' } => ({
  id,
  orgId: platform.identity.orgId,
  type: 'audit.entry',
  at: '2026-01-02T03:04:05.678Z',
  data: {
    action: 'crawl_schedule.saved',
    actorId: randomUUID(),
    credential: { kind: 'session', id: randomUUID() },
    address: '192.0.2.1',
    userAgent: null,
    subjectId: randomUUID(),
    detail: { connector: 'wiki_1', instance: 'default', scheduleType: 'daily' },
    ...data,
  },
});

test('crawls that keep failing are one mail to each administrator, with what was said last of each', async () => {
  const member = await platform.createUser();
  const token = await getServiceToken();
  const answer = await report(token, [
    toCrawlFact({ connector: 'wiki_1', failures: 3, reason: 'no wiki' }),
    toCrawlFact({ connector: 'files_1', failures: 3, reason: 'The endpoint\nanswered <500>' }),
  ]);
  expect(answer.body).toEqual({ stored: 2 });
  await report(token, [
    toCrawlFact({ connector: 'chat_1', failures: 4, reason: `too long ${'x'.repeat(1_000)}` }),
    toCrawlFact({ connector: 'wiki_1', failures: 0, reason: null }),
  ]);
  // The answer was lost.
  const twice = toCrawlFact({ connector: 'mail_1', failures: 0, reason: null });
  for (const _ of [1, 2]) expect((await report(token, [twice])).body).toEqual({ stored: 1 });
  const { body: feed } = await platform.identity.call('GET', '/api/v1/events?types=crawl.recovered', {
    token: platform.session,
  });
  expect(feed.data.map(({ data }: { data: object }) => data)).toMatchObject([
    { connector: 'wiki_1', failures: 0 },
    twice.data,
  ]);
  await endHold();
  const { text = '' } = await platform.mailTo('admin@example.com', /^2 crawls keep failing$/);
  expect(text).toMatch(/chat_1\n  The last 4 runs have failed: too long\s+xxx/);
  expect(text).toContain('files_1\n  The last 3 runs have failed: The endpoint answered <500>\n');
  expect(text).toContain('wiki_1\n  completes again\n');
  expect(text).toContain('/crawls\n');
  await platform.drained();
  const about = (email: string) =>
    platform.mailsTo(email).filter(({ subject }) => subject?.includes('crawl'));
  expect(about('admin@example.com')).toHaveLength(1);
  expect(about(member.email)).toEqual([]);
});

test('an entry of the audit is stored once, however often it is reported', async () => {
  const { identity, session } = platform;
  const token = await getServiceToken();
  const entry = toEntry('019b7c8e-0000-7000-8000-000000000001');
  for (const _ of [1, 2]) expect((await report(token, [entry])).status).toBe(200);
  // No such organisation.
  await report(token, [{ ...toEntry('019b7c8e-0000-7000-8000-000000000002'), orgId: randomUUID() }]);
  const { body } = await identity.call('GET', '/api/v1/audit?action=crawl_schedule.saved', {
    token: session,
  });
  const { userAgent, ...data } = entry.data;
  expect(body.data).toEqual([
    { ...data, id: entry.id, userAgent, reason: null, changes: {}, createdAt: entry.at },
  ]);
  expect(body.names[entry.data.subjectId ?? '']).toEqual({ kind: 'crawl', name: 'wiki_1' });
  const found = await identity.call('GET', '/api/v1/audit?q=wiki_1', { token: session });
  expect(found.body.data).toHaveLength(1);
});

test('as many facts as a request can have are stored, however long they are', async () => {
  const token = await getServiceToken();
  const reason = '語'.repeat(2_000);
  const facts = Array.from({ length: 100 }, (_, index) => ({
    ...toCrawlFact({ connector: `wiki_${index}`, failures: 3, reason }),
    at: '2026-01-01T00:00:00Z',
  }));
  expect((await report(token, facts)).body).toEqual({ stored: 100 });
});

test('only a service of the platform reports facts, each about one organisation', async () => {
  const { identity, session } = platform;
  const fact = toCrawlFact({ connector: 'wiki_1', failures: 3, reason: 'no' });
  const { accessToken } = await identity.createToken(session, { scopes: ['user:write', 'config:write'] });
  const service = await getServiceToken();
  const refused = [
    await report('', [fact]),
    await report(session, [fact]),
    await report(accessToken, [fact]),
    await report(service, []),
    await report(service, [{ ...fact, data: { ...fact.data, name: '' } }]),
    await report(service, [{ ...fact, data: { ...fact.data, failures: -1 } }]),
    await report(service, [{ ...fact, type: 'crawl.other' }]),
    await report(service, [fact, toEntry(randomUUID(), { action: 'token.created' })]),
  ];
  expect(refused.map(({ status }) => status)).toEqual([401, 403, 403, 400, 400, 400, 400, 400]);
  const mails = `from outgoing_mails where kind = 'crawl_notice'`;
  expect((await identity.db.query(`select ${mails}`)).rowCount).toBe(0);
  const other = await identity.createOrganisation('boss@crawls.example');
  const { orgId } = other;
  const old = {
    ...toCrawlFact({ connector: 'chat_1', failures: 3, reason: 'no', orgId }),
    at: '2026-01-01T00:00:00Z',
  };
  expect((await report(service, [{ ...fact, orgId }, old])).status).toBe(200);
  const { rows } = await identity.db.query(
    `select users.email, detail ->> 'crawls' as crawls ${mails.replace('where', 'join users on users.id = user_id where')}`,
  );
  expect(rows).toEqual([
    { email: 'boss@crawls.example', crawls: JSON.stringify([{ ...fact.data, at: fact.at }]) },
  ]);
});

test('the ends of runs and mails are in the feed, each reported by its own service', async () => {
  const { identity, session } = platform;
  const service = await getServiceToken();
  const toFact = (type: string, data: object) => ({
    id: randomUUID(),
    orgId: identity.orgId,
    type,
    at: new Date().toISOString(),
    data,
  });
  const run = toFact('crawl.run.failed', {
    runId: randomUUID(),
    connector: 'wiki_1',
    instance: 'default',
    trigger: 'schedule',
    worker: 'pull',
    mode: 'full',
    scheduledFor: '2026-01-02T03:04:05.678+00:00',
    startedAt: null,
    attempts: 3,
    counters: { items: 12 },
    reason: 'no wiki',
  });
  const mail = toFact('mail.failed', {
    mailId: randomUUID(),
    emailTemplateType: 'accountCreation',
    recipients: 1,
    attempts: 1,
    problem: { code: 'EENVELOPE', reply: 550, status: '5.1.1' },
  });
  for (const _ of [1, 2]) expect((await report(service, [run])).body).toEqual({ stored: 1 });
  expect((await report(service, [mail])).status).toBe(403);
  const list = async () => {
    const path = '/api/v1/events?types=crawl.run.failed,mail.failed';
    return (await identity.call('GET', path, { token: session })).body.data as object[];
  };
  // Those of the tests before get their places first.
  await waitFor(async () => (await list()).length > 0, { what: 'the fact' });
  expect(await list()).toMatchObject([{ id: run.id, type: run.type, data: run.data }]);
});
