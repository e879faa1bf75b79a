import type { Answer } from '@platform/testing';
import { waitFor } from '@platform/testing';
import { ALLOW_RECEIVERS } from '../../destinations/receiver.js';
import { startIdentity } from '../../identity.js';
import {
  closeReceivers,
  createSecret,
  createSubscriber,
  startEventReceiver,
  toEvent,
  verify,
} from './agent.js';
import { createCrawl, WITH_SERVICES } from './reported-facts.js';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

const identity = await startIdentity({ environment: { ...ALLOW_RECEIVERS, ...WITH_SERVICES } });
const session = await identity.login();
const { orgId, db } = identity;
const crawl = createCrawl(identity);
const SCOPES = ['crawl:read', 'pat:read'];
// The clock of the service may have advanced since.
const createToken = async (scopes = SCOPES) => identity.createToken(await identity.login(), { scopes });
const createAgent = async (scopes?: string[]) =>
  createSubscriber(identity, (await createToken(scopes)).accessToken);
const countStored = async () =>
  (await db.query(`select from fact_destinations where form = 'subscription'`)).rowCount ?? 0;
const getError = ({ status, body }: Answer) => [status, body.error?.code, body.error?.data];
const removeAll = () => db.query(`delete from fact_destinations where form = 'subscription'`);
const COMPLETED = 'crawl.run.completed';

afterEach(async () => {
  await removeAll();
  await closeReceivers();
});
afterAll(() => identity.close());

test('EVT-15 an event is sent signed, once, under the id of its fact, to whoever has repeated the challenge', async () => {
  const [agent, receiver, secret] = [await createAgent(), await startEventReceiver(), createSecret(24)];
  const { id, refreshBefore, truncated } = await agent.follow(COMPLETED, `${receiver.url}/hook?a=b`, { secret });
  expect([id, truncated]).toEqual([expect.stringMatching(/^[\w-]{40,200}$/), false]);
  const [challenge] = receiver.challenges;
  if (!challenge) throw new Error('there was no challenge');
  expect(verify(secret, challenge)).toMatchObject({ type: 'verification' });
  expect(challenge.headers).toMatchObject({ 'x-mcp-subscription-id': id, 'webhook-id': expect.stringMatching(/^msg_verification_/) });
  expect(Date.parse(refreshBefore) - Date.now()).toBeGreaterThan(DAY - HOUR);

  const eventId = await crawl.endRun(orgId, 'wiki_1');
  const request = await receiver.received(eventId);
  expect(verify(secret, request)).toEqual({
    eventId, name: COMPLETED, timestamp: expect.any(String), cursor: expect.any(String),
    data: expect.objectContaining({ connector: 'wiki_1', counters: { items: 12, deleted: 1 } }),
  });
  expect(request.path).toBe('/hook?a=b');
  expect(request.headers).toMatchObject({ 'webhook-id': eventId, 'x-mcp-subscription-id': id, 'content-type': 'application/json' });
  const polled = await agent.modern('events/poll', { name: COMPLETED, cursor: toEvent(request).cursor });
  expect(polled.body.result.events).toEqual([]);
  const second = await crawl.endRun(orgId, 'wiki_1');
  await receiver.received(second);
  expect(receiver.ids()).toEqual([eventId, second]);
  const { rows } = await db.query<{ all: string }>('select fact_destinations::text as all from fact_destinations');
  expect(rows.map(({ all }) => all).join('\n')).not.toContain(secret.slice(6));
  expect(identity.logged()).not.toContain(secret.slice(6));
}); // oxfmt-ignore

test('EVT-16 nothing is stored, and nothing sent, where the challenge fails', async () => {
  const [agent, receiver] = [await createAgent(), await startEventReceiver()];
  const answers: [string, Parameters<typeof receiver.answerChallengeWith>[0]][] = [
    ['challenge_failed', (challenge, response) => response.end(JSON.stringify({ challenge: `${challenge}x` }))],
    ['challenge_failed', (challenge, response) => response.end(challenge)],
    ['challenge_failed', (_, response) => response.end()],
    ['challenge_failed', (challenge, response) => response.end(JSON.stringify({ padding: 'x'.repeat(100_000), challenge }))],
    ['challenge_failed', (challenge, response) => response.writeHead(302, { location: '/' }).end(JSON.stringify({ challenge }))],
    ['http_4xx', (challenge, response) => response.writeHead(404).end(JSON.stringify({ challenge }))],
    ['http_5xx', (challenge, response) => response.writeHead(500).end(JSON.stringify({ challenge }))],
    ['connection_refused', (_, response) => response.destroy()],
    ['timeout', () => undefined],
  ];
  for (const [reason, answer] of answers) {
    receiver.answerChallengeWith(answer);
    expect(getError(await agent.subscribe(COMPLETED, receiver.url))).toEqual([200, -32_015, { reason }]);
  }
  expect(getError(await agent.subscribe(COMPLETED, 'http://127.0.0.1:9/'))).toEqual([200, -32_015, { reason: 'connection_refused' }]);
  expect(await countStored()).toBe(0);
}); // oxfmt-ignore

test('EVT-16 what does not fit is refused before anything is sent', async () => {
  const [agent, receiver] = [await createAgent(), await startEventReceiver()];
  const { url } = receiver;
  const secrets = ['', 'whsec_AAAA', createSecret(23), createSecret(65), createSecret().slice(6), `${createSecret()}!`];
  for (const secret of secrets) expect(getError(await agent.subscribe(COMPLETED, url, { secret }))[1]).toBe(-32_602);
  const urls = ['nowhere', 'ftp://127.0.0.1/', 'http://10.0.0.1/', 'https://10.0.0.1/', 'http://u:p@127.0.0.1/', `${url}#a`, 'https://[::1]/', 'http://169.254.169.254/'];
  for (const one of urls) expect([one, getError(await agent.subscribe(COMPLETED, one))[1]]).toEqual([one, -32_602]);
  expect(getError(await agent.subscribe(COMPLETED, url, { args: { connector: 1 } }))[1]).toBe(-32_602);
  expect(getError(await agent.subscribe(COMPLETED, url, { cursor: 'nothing' }))[1]).toBe(-32_602);
  const push = { name: COMPLETED, delivery: { mode: 'push', url } };
  expect(getError(await agent.modern('events/subscribe', push))).toEqual([200, -32_014, { feature: 'deliveryMode', value: 'push' }]);
  const unknown = await agent.subscribe('nothing.happened', url);
  expect(getError(unknown)).toEqual([200, -32_011, { kind: 'event' }]);
  expect((await agent.subscribe('member.removed', url)).body).toEqual(unknown.body);
  expect(getError(await createSubscriber(identity, session).subscribe(COMPLETED, url))[1]).toBe(-32_012);
  expect([receiver.challenges, await countStored()]).toEqual([[], 0]);
}); // oxfmt-ignore

test('EVT-20 the same request refreshes a subscription, whose replaced secret signs for a while', async () => {
  const { accessToken } = await createToken();
  const [agent, receiver] = [createSubscriber(identity, accessToken), await startEventReceiver()];
  const [first, second] = [createSecret(), createSecret()];
  const args = { connector: 'wiki_1', instance: 'default' };
  const { id } = await agent.follow(COMPLETED, receiver.url, { args, secret: first, ttlMs: 2 * HOUR });
  const again = await agent.follow(COMPLETED, receiver.url, {
    args: { instance: 'default', connector: 'wiki_1' }, secret: second, ttlMs: 30 * DAY,
  });
  expect([again.id, receiver.challenges.length, await countStored()]).toEqual([id, 1, 1]);
  expect(Date.parse(again.refreshBefore) - Date.now()).toBeGreaterThan(6.9 * DAY);
  expect(Date.parse(again.refreshBefore) - Date.now()).toBeLessThan(7.1 * DAY);
  const request = await receiver.received(await crawl.endRun(orgId, 'wiki_1'));
  for (const secret of [first, second]) expect(verify(secret, request)).toBeTruthy();
  // Another credential, URL or argument is another subscription.
  const others = [
    await (await createAgent()).follow(COMPLETED, receiver.url, { args }),
    await agent.follow(COMPLETED, `${receiver.url}/`, { args: { connector: 'files_1' } }),
    await agent.follow(COMPLETED, `${receiver.url}/other`, { args }),
  ];
  expect(new Set([id, ...others.map((other) => other.id)]).size).toBe(4);
  identity.advance(11 * 60_000);
  await agent.follow(COMPLETED, receiver.url, { args, secret: second });
  receiver.accepted.length = 0;
  await crawl.endRun(orgId, 'wiki_1');
  const later = await waitFor(() => receiver.accepted.find(({ headers, path }) => headers['x-mcp-subscription-id'] === id && path === '/'), { what: 'the event' });
  expect(String(later.headers['webhook-signature']).split(' ')).toHaveLength(1);
}); // oxfmt-ignore

test('EVT-20 a subscription ends at its time, unless it is refreshed', async () => {
  const { accessToken } = await createToken();
  const [agent, short, long] = [createSubscriber(identity, accessToken), await startEventReceiver(), await startEventReceiver()];
  await agent.follow(COMPLETED, short.url, { ttlMs: 1 });
  await agent.follow(COMPLETED, long.url);
  identity.advance(2 * 60_000);
  await long.received(await crawl.endRun(orgId, 'wiki_1'));
  await identity.sweep();
  expect([short.events(), await countStored()]).toEqual([[], 1]);
  const { id } = await agent.follow(COMPLETED, short.url);
  expect(id).toMatch(/^sub_/);
  await short.received(await crawl.endRun(orgId, 'wiki_1'));
}); // oxfmt-ignore

test('EVT-20 a subscription that is refreshed at its end, while what has ended is deleted, is there afterwards', async () => {
  const { accessToken } = await createToken();
  const [agent, receiver] = [createSubscriber(identity, accessToken), await startEventReceiver()];
  for (let round = 0; round < 8; round += 1) {
    await agent.follow(COMPLETED, receiver.url, { ttlMs: 60_000 });
    identity.advance(60_000);
    const [answers] = await Promise.all([
      Promise.all(Array.from({ length: 3 }, () => agent.subscribe(COMPLETED, receiver.url, { ttlMs: 60_000 }))),
      identity.sweep(),
      identity.sweep(),
    ]);
    for (const { body, text } of answers) expect([text, body.result?.id]).toEqual([text, expect.stringMatching(/^sub_/)]);
    expect(await countStored()).toBe(1);
  }
  await receiver.received(await crawl.endRun(orgId, 'wiki_1'));
}); // oxfmt-ignore

test('EVT-26 a subscription begins with what happened within maxAgeMs, where its cursor is older', async () => {
  const [agent, all, recent] = [await createAgent(), await startEventReceiver(), await startEventReceiver()];
  const { cursor } = (await agent.modern('events/poll', { name: COMPLETED })).body.result;
  const old = await crawl.endRun(orgId, 'wiki_1');
  await waitFor(async () => (await db.query(`select from outbox.events where event_id = $1 and position is not null`, [old])).rowCount === 1, { what: 'its position' });
  await db.query(`update outbox.events set created_at = created_at - interval '2 hours' where event_id = $1`, [old]);
  const young = await crawl.endRun(orgId, 'wiki_1');
  // The clock of the service is ahead of that of the database.
  const { rows } = await db.query<{ age: number }>('select extract(epoch from $1::timestamptz - now())::float8 as age', [new Date(Date.now())]);
  const ahead = (await agent.follow(COMPLETED, all.url, { cursor })).refreshBefore;
  const aheadMs = Date.parse(ahead) - DAY - Date.now() + (rows[0]?.age ?? 0) * 1_000;
  await agent.follow(COMPLETED, recent.url, { cursor, maxAgeMs: Math.round(Math.max(0, aheadMs) + HOUR) });
  await all.received(young);
  await recent.received(young);
  expect([all.ids(), recent.ids()]).toEqual([[old, young], [young]]);
  expect(getError(await agent.subscribe(COMPLETED, recent.url, { cursor, maxAgeMs: -1 }))[1]).toBe(-32_602);
}); // oxfmt-ignore

test('EVT-22 a receiver that accepts nothing for five days ends its subscription, however often that is refreshed', async () => {
  const { accessToken } = await createToken();
  const [agent, dead] = [createSubscriber(identity, accessToken), await startEventReceiver()];
  const follow = () => agent.follow(COMPLETED, dead.url, { ttlMs: 7 * DAY });
  await follow();
  dead.answerWith(() => 503);
  await crawl.endRun(orgId, 'wiki_1');
  const findFailing = async () =>
    (await db.query<{ resting: boolean }>(
      `select claimed_until is null and resume_at is not null as resting from fact_destinations where failing_since is not null`,
    )).rows[0];
  await waitFor(async () => (await findFailing())?.resting, { what: 'the first failure' });
  identity.advance(4.9 * DAY);
  await waitFor(() => dead.refused().length > 1, { what: 'a later failure' });
  await waitFor(async () => (await findFailing())?.resting, { what: 'its outcome' });
  await follow();
  expect(await countStored()).toBe(1);
  identity.advance(0.2 * DAY);
  await waitFor(async () => (await countStored()) === 0, { what: 'the end' });
  const { rows } = await db.query<{ reason: string }>(
    `select reason from audit_entries where action = 'event_subscription.ended' order by id desc limit 1`,
  );
  expect(rows).toEqual([{ reason: 'failing' }]);
}); // oxfmt-ignore

test('EVT-22 unsubscribing ends a subscription, and an unknown one is an error', async () => {
  const [agent, receiver] = [await createAgent(), await startEventReceiver()];
  await agent.follow(COMPLETED, receiver.url, { args: { connector: 'wiki_1' } });
  expect(getError(await agent.unsubscribe(COMPLETED, receiver.url))).toEqual([200, -32_011, { kind: 'subscription' }]);
  const other = await createAgent();
  expect(getError(await other.unsubscribe(COMPLETED, receiver.url, { connector: 'wiki_1' }))[1]).toBe(-32_011);
  expect((await agent.unsubscribe(COMPLETED, receiver.url, { connector: 'wiki_1' })).body.result).toEqual({
    resultType: 'complete', _meta: expect.any(Object),
  });
  expect(await countStored()).toBe(0);
  const { rows } = await db.query<{ action: string; detail: object }>(
    `select action, detail from audit_entries where action like 'event_subscription.%' order by id desc limit 1`,
  );
  expect(rows).toEqual([{ action: 'event_subscription.ended', detail: { event: COMPLETED, url: receiver.url, arguments: '{"connector":"wiki_1"}' } }]);
}); // oxfmt-ignore

test('EVT-22 a receiver that answers 410 ends its subscription', async () => {
  const [agent, gone, other] = [await createAgent(), await startEventReceiver(), await startEventReceiver()];
  gone.answerWith(() => 410);
  await agent.follow(COMPLETED, gone.url);
  await agent.follow(COMPLETED, other.url);
  await other.received(await crawl.endRun(orgId, 'wiki_1'));
  await waitFor(async () => (await countStored()) === 1, { what: 'the end' });
  await other.received(await crawl.endRun(orgId, 'wiki_1'));
  expect(gone.refused()).toHaveLength(1);
}); // oxfmt-ignore

test('EVT-19 events come in order, one after the other, also after some were refused', async () => {
  const [agent, receiver] = [await createAgent(), await startEventReceiver()];
  await agent.follow(COMPLETED, receiver.url);
  receiver.answerWith(() => 503);
  const ids: string[] = [];
  for (let index = 0; index < 5; index += 1) ids.push(await crawl.endRun(orgId, 'wiki_1'));
  await waitFor(() => receiver.refused().length > 0, { what: 'a refusal' });
  for (let index = 0; index < 5; index += 1) ids.push(await crawl.endRun(orgId, 'wiki_1'));
  receiver.answerWith(() => 204);
  await waitFor(() => receiver.ids().length >= ids.length, { what: 'the events', patienceMs: 60_000 });
  expect(receiver.ids()).toEqual(ids);
  expect(new Set(receiver.refused().map((request) => toEvent(request).eventId))).toEqual(new Set(ids.slice(0, 1)));
}); // oxfmt-ignore

test('EVT-19 an event that is refused for good is passed over, and one that is too large at once', async () => {
  const [agent, receiver] = [await createAgent(), await startEventReceiver()];
  await agent.follow('crawl.failing', receiver.url);
  receiver.answerWith((request) => {
    const { failures } = toEvent(request).data;
    return failures === 1 ? 413 : failures === 2 ? 400 : 204;
  });
  for (const failures of [1, 2]) await crawl.fail(orgId, 'wiki_1', failures);
  const last = await crawl.fail(orgId, 'wiki_1', 3);
  let resting: unknown;
  while (receiver.ids().length === 0) {
    // Time passes when what became of the last attempt is stored.
    await waitFor(async () => {
      const { rows } = await db.query<{ resumeAt: string | null; claimed: boolean }>(
        `select resume_at::text as "resumeAt", claimed_until is not null as claimed from fact_destinations where form = 'subscription'`,
      );
      const [{ resumeAt, claimed } = { resumeAt: null, claimed: true }] = rows;
      const isNews = !claimed && resumeAt !== null && resumeAt !== resting;
      if (isNews) resting = resumeAt;
      return isNews || receiver.ids().length > 0;
    }, { what: 'an attempt', patienceMs: 30_000 });
    identity.advance(16 * 60_000);
  }
  expect(receiver.ids()).toEqual([last]);
  const refused = receiver.refused().map((request) => toEvent(request).data['failures']);
  expect([refused.filter((failures) => failures === 1).length, refused.filter((failures) => failures === 2).length]).toEqual([1, 8]);
}); // oxfmt-ignore

test('EVT-17 a subscription with a cursor begins there, and says when something is missing', async () => {
  const [agent, receiver] = [await createAgent(), await startEventReceiver()];
  const { cursor } = await agent.follow(COMPLETED, receiver.url);
  await agent.unsubscribe(COMPLETED, receiver.url);
  const missed = [await crawl.endRun(orgId, 'wiki_1'), await crawl.endRun(orgId, 'files_1')];
  expect((await agent.follow(COMPLETED, receiver.url, { cursor })).truncated).toBe(false);
  await waitFor(() => receiver.ids().length === 2, { what: 'the missed events' });
  expect(receiver.ids()).toEqual(missed);
  await agent.unsubscribe(COMPLETED, receiver.url);
  await db.query('update outbox.head set epoch = gen_random_uuid()');
  expect((await agent.follow(COMPLETED, receiver.url, { cursor })).truncated).toBe(true);
}); // oxfmt-ignore

test('EVT-23 people see and stop what their agents follow, and administrators what all agents of the organisation follow', async () => {
  const path = '/api/v1/events/subscriptions';
  const today = await identity.login();
  const member = await identity.createMember(today, 'admin');
  const created = await identity.createToken(member.session, { name: 'My agent', scopes: SCOPES });
  const [agent, receiver] = [createSubscriber(identity, created.accessToken), await startEventReceiver()];
  await agent.follow(COMPLETED, `${receiver.url}/secret`, { args: { connector: 'wiki_1' } });
  await (await createAgent()).follow('crawl.failing', receiver.url);
  const eventId = await crawl.endRun(orgId, 'wiki_1');
  await receiver.received(eventId);
  const list = async (token: string, more = '') => (await identity.call('GET', path + more, { token })).body.data;
  const [own] = await waitFor(async () => {
    const data = await list(member.session);
    return data[0]?.lastDeliveredAt !== null && data;
  }, { what: 'the delivery' });
  expect(own).toEqual({
    id: expect.any(String), event: COMPLETED, arguments: { connector: 'wiki_1' }, host: new URL(receiver.url).host,
    credential: { kind: 'pat', name: 'My agent' }, createdAt: expect.any(String), endsAt: expect.any(String),
    lastDeliveredAt: expect.any(String), failingSince: null,
  });
  expect(await list(today, '/admin')).toMatchObject([
    { event: 'crawl.failing', owner: { email: 'admin@example.com' }, lastDeliveredAt: null },
    { event: COMPLETED, owner: { id: member.id, email: member.email } },
  ]);
  // It is the destination of nobody who manages destinations.
  expect(await list(today, '/../destinations')).toEqual([]);
  expect((await identity.call('GET', `/api/v1/events/destinations/${own.id}`, { token: today })).status).toBe(404);
  expect((await identity.call('DELETE', `${path}/${own.id}`, { token: today })).status).toBe(404);
  expect((await identity.call('DELETE', `${path}/${own.id}`, { token: member.session })).status).toBe(200);
  expect((await identity.call('DELETE', `${path}/${own.id}`, { token: member.session })).status).toBe(404);
  const [other] = await list(today, '/admin');
  expect((await identity.call('DELETE', `${path}/admin/${other.id}`, { token: today })).status).toBe(200);
  expect([await list(today, '/admin'), await countStored()]).toEqual([[], 0]);
  // What a token has subscribed to ends with it in the lists, too.
  await agent.follow(COMPLETED, receiver.url);
  await identity.call('DELETE', `/api/v1/personal-access-tokens/${created.id}`, { token: member.session });
  expect(await list(member.session)).toEqual([]);
  await identity.sweep();
  expect(await countStored()).toBe(0);
  const strange = await identity.createOrganisation('stranger@example.com');
  expect(await list(strange.session, '/admin')).toEqual([]);
}); // oxfmt-ignore
