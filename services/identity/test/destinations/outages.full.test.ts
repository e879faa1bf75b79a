import { randomUUID } from 'node:crypto';
import { insertFactsOf } from '@platform/events';
import { type CallOptions, callUrl, startStopwatch, waitFor } from '@platform/testing';
import pg from 'pg';
import { admin, createIdentityDatabase, startIdentity } from '../identity.js';
import { environmentFor, startServer } from '../process/process.js';
import { ALLOW_RECEIVERS, closeScenes, createDestinations, openScene, toFact } from './receiver.js';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

const identity = await startIdentity({ environment: ALLOW_RECEIVERS });
afterEach(() => closeScenes(identity));
afterAll(() => identity.close());

test('AUD-19 a destination that is unavailable for a day loses nothing; after five days it is disabled, and goes on once it is enabled', async () => {
  const { email, orgId, destinations, receiver, call, createToken, pass, received, refused, subjects } = await openScene(identity);
  const { id } = await destinations.create({ url: receiver.url });
  receiver.answerWith(() => 500);
  const tokens: string[] = [];
  for (let hour = 0; hour < 24; hour += 6) {
    tokens.push(await createToken());
    const before = receiver.refused.length;
    await pass(6 * HOUR);
    await refused(before + 1);
  }
  receiver.answerWith(() => 204);
  await pass(HOUR);
  for (const token of tokens) await received(token);
  expect((await destinations.get(id)).failingSince).toBeNull();

  receiver.answerWith(() => 500);
  tokens.push(await createToken());
  await refused(receiver.refused.length + 1);
  const isFailing = async () => (await destinations.get(id)).failingSince !== null;
  await waitFor(isFailing, { what: 'the failure' });
  await pass(4.9 * DAY);
  tokens.push(await createToken());
  await refused(receiver.refused.length + 1);
  expect((await destinations.get(id)).isEnabled).toBe(true);
  await pass(0.2 * DAY);
  await waitFor(async () => !(await destinations.get(id)).isEnabled, { what: 'the end' });
  expect((await destinations.get(id)).disabledReason).toBe('failing');
  const { rows } = await identity.db.query(
    `select users.email, detail ->> 'notice' as notice, detail ->> 'url' as url from outgoing_mails
     join users on users.id = user_id where detail ->> 'notice' = 'destinationDisabled' and users.org_id = $1`,
    [orgId],
  );
  expect(rows).toEqual([{ email, notice: 'destinationDisabled', url: receiver.url }]);
  const { body: audit } = await call('GET', '/api/v1/audit?action=destination.disabled');
  expect(audit.data).toMatchObject([{ subjectId: id, actorId: null, reason: 'failing' }]);

  receiver.answerWith(() => 204);
  tokens.push(await createToken());
  expect((await destinations.call('PATCH', `/${id}`, { isEnabled: true })).status).toBe(200);
  for (const token of tokens) await received(token);
  expect(new Set(subjects())).toEqual(new Set(tokens));
  expect(receiver.accepted).toHaveLength(tokens.length);
}); // oxfmt-ignore

test('AUD-9 a receiver of logs that is unavailable for seven days gets everything, in order, once it is enabled again', async () => {
  const { destinations, receiver, createToken, pass, refused } = await openScene(identity);
  const { id } = await destinations.create({ form: 'logs', url: receiver.url });
  receiver.answerWith(() => 503);
  const tokens = [await createToken()];
  await waitFor(async () => (await destinations.get(id)).failingSince !== null, { what: 'the failure' });
  for (let day = 1; day <= 7; day += 1) {
    const before = receiver.refused.length;
    await pass(DAY);
    if (day <= 5) await refused(before + 1);
    if (day === 5) await waitFor(async () => !(await destinations.get(id)).isEnabled, { what: 'the end' });
    tokens.push(await createToken());
  }
  receiver.answerWith(() => 200);
  await destinations.call('PATCH', `/${id}`, { isEnabled: true });
  const logged = () =>
    receiver.accepted.flatMap(({ body }) =>
      JSON.parse(body).resourceLogs[0].scopeLogs[0].logRecords.map(
        (record: { body: { stringValue: string } }) => JSON.parse(record.body.stringValue).data.subjectId as string,
      ) as string[],
    );
  await waitFor(() => logged().length >= tokens.length, { what: 'the logs' });
  expect(logged()).toEqual(tokens);
}); // oxfmt-ignore

test('AUD-7 a replica that is killed loses nothing: the next one sends what was not stored, under the same ids', async () => {
  const { receiver } = await openScene(identity);
  const database = await createIdentityDatabase();
  const db = new pg.Pool({ connectionString: database.url, max: 1 });
  const environment = { ...environmentFor(database.url), ...ALLOW_RECEIVERS };
  let server = await startServer(environment);
  try {
    const callServer = (method: string, path: string, options?: CallOptions) => callUrl(server.url + path, method, options);
    const { body } = await callServer('POST', '/api/v1/auth/login', { body: admin });
    await createDestinations({ call: callServer }, () => body.accessToken as string).create({ url: receiver.url, types: undefined });
    receiver.answerWith((_, response) => {
      setTimeout(() => response.writeHead(204).end(), 50);
      return undefined;
    });
    const ids: string[] = Array.from({ length: 120 }, () => randomUUID());
    await db.query(
      insertFactsOf(`(
        select id, (select id from organisations) as org_id, 'audit.entry' as type, now() as at, '{}'::json as data
        from unnest($1::uuid[]) id) as fact`),
      [ids],
    );
    const sent = () => receiver.refused.map((request) => toFact(request).id).filter((id) => ids.includes(id));
    await waitFor(() => sent().length >= 30, { what: 'some deliveries' });
    server.child.kill('SIGKILL');
    await server.exit;
    server = await startServer(environment);
    await waitFor(() => new Set(sent()).size === ids.length, { what: 'the rest' });
    expect(sent().length - ids.length).toBeLessThanOrEqual(10);
  } finally {
    server.child.kill('SIGKILL');
    await server.exit;
    await db.end();
    await database.drop();
  }
}); // oxfmt-ignore

test('AUD-7 a hundred destinations that never answer delay no other, neither of their organisation nor of another', async () => {
  const { destinations, receiver, createToken, received } = await openScene(identity);
  receiver.answerWith(({ path }) => (path.startsWith('/dead') ? undefined : 204));
  await destinations.create({ url: receiver.url });
  await received(await createToken());
  for (let index = 0; index < 99; index += 1) await destinations.create({ url: `${receiver.url}/dead/${index}` });
  const other = await openScene(identity);
  await other.destinations.create({ url: receiver.url });
  const measure = async (create: () => Promise<string>) => {
    const stopwatch = startStopwatch();
    await received(await create());
    return stopwatch.stop();
  };
  const ofOthers: number[] = [];
  const ofTheirOwn: number[] = [];
  for (let round = 0; round < 3; round += 1) {
    ofTheirOwn.push(await measure(createToken));
    ofOthers.push(await measure(other.createToken));
  }
  expect(receiver.refused.length).toBeGreaterThan(0);
  // In line, the dead ones would take 40 seconds.
  expect(Math.max(...ofOthers)).toBeLessThan(5_000);
  expect(Math.max(...ofTheirOwn.slice(1))).toBeLessThan(20_000);
}); // oxfmt-ignore

test('AUD-7 a slow receiver delays no other one behind the same name', async () => {
  const { orgId, destinations, receiver, received, refused } = await openScene(identity);
  receiver.answerWith(({ path }) => (path.startsWith('/slow') ? undefined : 204));
  for (let index = 0; index < 12; index += 1) await destinations.create({ url: `${receiver.url}/slow/${index}` });
  // They have accepted something, so each is sent ten at a time.
  await identity.db.query('update fact_destinations set is_accepting = true where org_id = $1', [orgId]);
  await identity.db.query(
    insertFactsOf(`(
      select gen_random_uuid() as id, $1::uuid as org_id, 'token.created' as type, now() as at, data
      from generate_series(1, 10), (select (event -> 'data')::json as data from outbox.events where event ->> 'type' = 'token.created' limit 1) as token) as fact`),
    [orgId],
  );
  // More than undici's agents were given connections for, fewer than the 120 that a busy machine may not send in time.
  await refused(65);
  const other = await openScene(identity);
  await other.destinations.create({ url: receiver.url });
  await received(await other.createToken());
  const readStates = async () =>
    (await identity.db.query<{ state: string }>('select state from fact_deliveries where org_id = $1', [other.orgId])).rows;
  await waitFor(async () => (await readStates()).length > 0, { what: 'the outcome' });
  expect(await readStates()).toEqual([{ state: 'delivered' }]);
}); // oxfmt-ignore
