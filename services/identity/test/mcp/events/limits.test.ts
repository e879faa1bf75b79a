import { waitFor } from '@platform/testing';
import { ALLOW_RECEIVERS } from '../../destinations/receiver.js';
import { startIdentity } from '../../identity.js';
import { startReplica } from '../../replica.js';
import { closeReceivers, createSubscriber, startEventReceiver } from './agent.js';
import { createCrawl, WITH_SERVICES } from './reported-facts.js';

const environment = { ...ALLOW_RECEIVERS, ...WITH_SERVICES };
const identity = await startIdentity({ environment });
const session = await identity.login();
const { orgId, db } = identity;
const crawl = createCrawl(identity);
const createAgent = async (owner = session) =>
  createSubscriber(identity, (await identity.createToken(owner, { scopes: ['crawl:read'] })).accessToken);
const EVENT = 'crawl.run.completed';

afterEach(async () => {
  await db.query(`delete from fact_destinations where form = 'subscription'`);
  await closeReceivers();
});
afterAll(() => identity.close());

const crowd = await identity.createMember(session, 'admin');
const { id: crowdToken } = await identity.createToken(crowd.session, { scopes: ['crawl:read'] });

/** Adds subscriptions of another account, more than an account can have. */
const addOthers = (count: number) =>
  db.query(
    `insert into fact_destinations (id, org_id, form, url, description, types, secret_sealed, position, served_at, created_at,
       subscription_key, owner_id, credential_kind, credential_id, event, arguments, ends_at)
     select gen_random_uuid(), $1, 'subscription', 'https://other.example/', '', '{}', '', 0, now(), now(), 'other-' || number,
       $3, 'pat', $4, 'crawl.failing', '{}', now() + interval '1 day' from generate_series(1, $2) number`,
    [orgId, count, crowd.id, crowdToken],
  );

test('EVT-21 an account has 100 subscriptions at most, and an organisation 1,000; refreshing one is always possible', async () => {
  const [agent, receiver] = [await createAgent(), await startEventReceiver()];
  const follow = (index: number) => agent.subscribe(EVENT, receiver.url, { args: { instance: `i${index}` } });
  for (let index = 0; index < 100; index += 1) expect((await follow(index)).body.error).toBeUndefined();
  expect((await follow(100)).body.error).toMatchObject({ code: -32_013, data: { limit: 'subscriptions', max: 100 } });
  // Another token of the same account has no more room, and another account has.
  const again = await (await createAgent()).subscribe(EVENT, receiver.url);
  expect(again.body.error?.code).toBe(-32_013);
  expect((await follow(7)).body.result.id).toMatch(/^sub_/);
  const administrator = await identity.createMember(session, 'admin');
  const other = await createAgent(administrator.session);
  expect((await other.subscribe(EVENT, receiver.url)).body.error).toBeUndefined();
  await addOthers(899);
  expect((await other.subscribe(EVENT, `${receiver.url}/more`)).body.error).toMatchObject({ code: -32_013, data: { max: 1_000 } });
  expect(receiver.challenges).toHaveLength(101);
}); // oxfmt-ignore

test('EVT-21 subscriptions of a token that has ended take no room from its account', async () => {
  const receiver = await startEventReceiver();
  const person = await identity.createMember(session, 'admin');
  const { id, accessToken } = await identity.createToken(person.session, { scopes: ['crawl:read'] });
  const before = createSubscriber(identity, accessToken);
  for (let index = 0; index < 100; index += 1) await before.follow(EVENT, receiver.url, { args: { instance: `i${index}` } });
  const after = await createAgent(person.session);
  expect((await after.subscribe(EVENT, receiver.url)).body.error).toMatchObject({ code: -32_013 });
  await identity.call('DELETE', `/api/v1/personal-access-tokens/${id}`, { token: person.session });
  expect((await after.subscribe(EVENT, receiver.url)).body.error).toBeUndefined();
  // Those that the delivery of events was ending meanwhile are recorded by it.
  const ended = `select from audit_entries where action = 'event_subscription.ended' and reason = 'unauthorized' and org_id = $1`;
  await waitFor(async () => (await db.query(ended, [orgId])).rowCount === 100, { what: 'the ends of all subscriptions' });
}); // oxfmt-ignore

test('EVT-21 simultaneous requests have no room together that each alone would have', async () => {
  const [agent, receiver] = [await createAgent(), await startEventReceiver()];
  await addOthers(995);
  const answers = await Promise.all(
    Array.from({ length: 12 }, (_, index) => agent.subscribe(EVENT, receiver.url, { args: { instance: `i${index}` } })),
  );
  expect(answers.filter(({ body }) => body.result)).toHaveLength(5);
  const same = await Promise.all(
    Array.from({ length: 4 }, () => agent.subscribe(EVENT, receiver.url, { args: { instance: 'i0' } })),
  );
  expect(new Set(same.map(({ body }) => body.result?.id)).size).toBeLessThanOrEqual(2);
}); // oxfmt-ignore

test('EVT-31 an account has 200 receivers challenged in a minute, and leaves the others of its organisation their own', async () => {
  const receiver = await startEventReceiver();
  receiver.answerChallengeWith((_challenge, response) => void response.writeHead(404).end());
  const [one, two] = [await identity.createMember(session, 'admin'), await identity.createMember(session, 'admin')];
  const [noisy, quiet] = [await createAgent(one.session), await createAgent(two.session)];
  // At once: one after the other, a busy machine would take longer than the minute.
  const answers = await Promise.all(Array.from({ length: 400 }, () => noisy.subscribe(EVENT, receiver.url)));
  const challenged = answers.filter(({ body }) => body.error?.code === -32_015).length;
  expect(challenged).toBeGreaterThanOrEqual(200);
  expect(challenged).toBeLessThan(400);
  expect(receiver.challenges).toHaveLength(challenged);
  expect((await quiet.subscribe(EVENT, receiver.url)).body.error?.code).toBe(-32_015);
}); // oxfmt-ignore

test('EVT-24 without the permission of the operator, a callback is https at a public address', async () => {
  const strict = await startReplica(identity.databaseUrl, WITH_SERVICES);
  try {
    const { accessToken } = await identity.createToken(session, { scopes: ['crawl:read'] });
    const agent = createSubscriber(strict, accessToken);
    for (const url of ['http://127.0.0.1:80/', 'http://example.com/', 'https://127.0.0.1/', 'https://[::ffff:127.0.0.1]/'])
      expect([url, (await agent.subscribe(EVENT, url)).body.error?.code]).toEqual([url, -32_602]);
    // A name is judged by what it resolves to, at each connection.
    expect((await agent.subscribe(EVENT, 'https://localhost/')).body.error).toMatchObject({
      code: -32_015, data: { reason: 'connection_refused' },
    });
  } finally {
    await strict.close();
  }
}); // oxfmt-ignore

test('EVT-19 receivers that never answer, or answer without an end, cost the others of their organisation nothing once they fail', async () => {
  const [agent, dead, live] = [await createAgent(), await startEventReceiver(), await startEventReceiver()];
  let begun = 0;
  dead.answerWith((_, response) => {
    begun += 1;
    if (begun % 2 === 0) return undefined;
    response.writeHead(200);
    const writing = setInterval(() => response.write('x'.repeat(10_000)), 10);
    response.on('close', () => clearInterval(writing));
    return undefined;
  });
  for (let index = 0; index < 50; index += 1) await agent.follow(EVENT, `${dead.url}/${index}`);
  await agent.follow(EVENT, live.url);
  await live.received(await crawl.endRun(orgId, 'wiki_1'));
  await waitFor(
    async () => (await db.query(`select from fact_destinations where form = 'subscription' and claimed_until is not null`)).rowCount === 0,
    { what: 'the first failures', patienceMs: 60_000 },
  );
  const delays: number[] = [];
  for (let round = 0; round < 5; round += 1) {
    const startedAt = performance.now();
    await live.received(await crawl.endRun(orgId, 'wiki_1'));
    delays.push(performance.now() - startedAt);
  }
  expect(Math.min(...delays)).toBeLessThan(2_000);
}); // oxfmt-ignore
