import { randomUUID } from 'node:crypto';
import type { ReportedFact } from '@platform/events';
import { waitFor } from '@platform/testing';
import { v7 as uuidv7 } from 'uuid';
import { serviceClient } from '../identity.js';
import { mailClientSecret } from '../sign-in/account-flows/mail-service.js';
import { startPlatform } from '../sign-in/account-flows/platform.js';

const platform = await startPlatform();
afterAll(() => platform.close());

async function getServiceToken({ id, secret } = serviceClient): Promise<string> {
  const basic = Buffer.from(`${id}:${secret}`).toString('base64');
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
    requestId: null,
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
  expect(platform.mailsTo('admin@example.com', /crawl/)).toHaveLength(1);
  expect(platform.mailsTo(member.email, /crawl/)).toEqual([]);
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
    await report(service, [{ ...fact, type: 'crawl.other' }]),
    await report(service, [fact, toEntry(randomUUID(), { action: 'token.created' })]),
  ];
  expect(refused.map(({ status }) => status)).toEqual([401, 403, 403, 400, 400, 400]);
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
  // The facts of the tests before get their places first.
  await waitFor(async () => (await list()).length > 0, { what: 'the fact' });
  expect(await list()).toMatchObject([{ id: run.id, type: run.type, data: run.data }]);
});

test('what became of an invitation shows until it is sent, or there is a newer one', async () => {
  const { identity, session } = platform;
  const token = await getServiceToken({ id: 'mail', secret: mailClientSecret });
  const reportMail = async (reference: string, type: string, problem: object | null = null) => {
    const mailId = randomUUID();
    const data = {
      mailId,
      reference,
      emailTemplateType: 'appuserInvite',
      recipients: 1,
      attempts: 1,
      problem,
    };
    const fact = { id: randomUUID(), orgId: identity.orgId, type, at: new Date().toISOString(), data };
    expect((await report(token, [fact])).status).toBe(200);
    return () => report(token, [fact]);
  };
  const findMailId = async (id: string) => {
    const { rows } = await identity.db.query<{ id: string }>(
      'select invitation_mail_id as id from users where id = $1',
      [id],
    );
    return rows[0]?.id ?? '';
  };
  const getInvitation = async (id: string) => {
    const { body } = await identity.call('GET', '/api/v1/users', { token: session });
    return (body.data as { id: string; invitation: unknown }[]).find((member) => member.id === id)
      ?.invitation;
  };
  // So the mail service itself has nothing to report.
  platform.inbox.isBusy = true;
  const { id, email } = await platform.createUser({});
  const first = await waitFor(() => findMailId(id), { what: 'the mail' });
  const refused = { code: 'EENVELOPE', command: 'RCPT TO', reply: 550, status: '5.1.1' };
  const repeat = await reportMail(first, 'mail.failed', refused);
  await repeat();
  const undeliverable = { state: 'undeliverable', reason: 'The recipient does not exist (550 5.1.1)' };
  expect(await getInvitation(id)).toEqual(undeliverable);
  await platform.minutePassed();
  await platform.post('password/forgot', { email });
  const second = await waitFor(async () => (await findMailId(id)).replace(first, ''), {
    what: 'the next mail',
  });
  expect(await getInvitation(id)).toEqual({ state: 'pending' });
  await repeat();
  await reportMail(first, 'mail.unknown');
  expect(await getInvitation(id)).toEqual({ state: 'pending' });
  const repeatUnknown = await reportMail(second, 'mail.unknown');
  expect(await getInvitation(id)).toMatchObject({ state: 'unknown' });
  await reportMail(second, 'mail.sent');
  await repeatUnknown();
  expect(await getInvitation(id)).toEqual({ state: 'pending' });
  const feed = await waitFor(
    async () => {
      const { text } = await identity.call('GET', '/api/v1/events?types=mail.failed', { token: session });
      return text.includes('5.1.1') ? text : undefined;
    },
    { what: 'the fact' },
  );
  expect(feed).not.toContain('reference');
});

test('EVT-35 the feed has what a service reports in the order in which it happened, and a notice after its cause', async () => {
  const token = await getServiceToken();
  const { orgId } = platform.identity;
  const [at, later] = ['2026-01-02T03:04:06.000Z', '2026-01-02T03:04:07.000Z'];
  const notice = { ...toCrawlFact({ connector: 'db_1', failures: 3, reason: 'no disk' }), at };
  const run = {
    id: randomUUID(),
    orgId,
    type: 'crawl.run.failed',
    at,
    data: {
      runId: randomUUID(),
      connector: 'db_1',
      instance: 'default',
      trigger: 'schedule',
      worker: 'endpoint',
      mode: 'incremental',
      scheduledFor: at,
      nextRunAt: null,
      startedAt: at,
      attempts: 1,
      counters: { items: 0, deleted: 0 },
      reason: 'no disk',
    },
  };
  const last = { ...toEntry(uuidv7()), at: later };
  const first = toEntry(uuidv7());
  const { status, text } = await report(token, [notice, last, run, first]);
  expect([status, text]).toEqual([200, '{"stored":4}']);
  const ids = [first.id, run.id, notice.id, last.id];
  const read = async () => {
    const seen: string[] = [];
    for (let after: string | null = null, hasMore = true; hasMore;) {
      const query = new URLSearchParams({ limit: '100', ...(after !== null && { after }) });
      const { body } = await platform.identity.call('GET', `/api/v1/events?${query.toString()}`, {
        token: platform.session,
      });
      seen.push(...(body.data as { id: string }[]).map(({ id }) => id));
      after = body.nextCursor as string;
      ({ hasMore } = body as { hasMore: boolean });
    }
    return seen.filter((id) => ids.includes(id));
  };
  await waitFor(async () => (await read()).length === ids.length, { what: 'the facts in the feed' });
  expect(await read()).toEqual(ids);
});
