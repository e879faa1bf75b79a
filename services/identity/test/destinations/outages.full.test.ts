import { randomUUID } from 'node:crypto';
import { type CallOptions, callUrl, startStopwatch, waitFor } from '@platform/testing';
import pg from 'pg';
import { admin, createIdentityDatabase, type IdentityUnderTest, startIdentity } from '../identity.js';
import { environmentFor, startServer } from '../process/process.js';
import { ALLOW_RECEIVERS, createDestinations, type Receiver, startReceiver, toFact } from './receiver.js';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

let identity: IdentityUnderTest;
let session: string;
let receiver: Receiver;
let destinations: ReturnType<typeof createDestinations>;

beforeEach(async () => {
  // Mails are stored, and never sent.
  identity = await startIdentity({ environment: { ...ALLOW_RECEIVERS, MAIL_URL: 'http://127.0.0.1:9' } });
  session = await identity.login();
  destinations = createDestinations(identity, session);
  receiver = await startReceiver();
});
afterEach(async () => {
  await receiver.close();
  await identity.close();
});

/** Causes a fact. @returns the id of the token that it is about. */
const createToken = async (token = session): Promise<string> =>
  (await identity.createToken(token, { scopes: ['user:read'] })).id;
/** Signs in again after time has passed. */
async function pass(milliseconds: number): Promise<void> {
  identity.advance(milliseconds);
  session = await identity.login();
  destinations = createDestinations(identity, session);
}
const subjects = (from = receiver) => from.accepted.map((request) => toFact(request).data['subjectId']);
const received = (subject: string, from = receiver) =>
  waitFor(() => subjects(from).includes(subject), { what: 'the fact' });
const refused = (number: number) => waitFor(() => receiver.refused.length >= number, { what: 'the refusal' });
const refuseAll = () => {
  receiver.answerWith(() => 500);
};

test('AUD-7 a destination that is away for a day loses nothing; after five days it is disabled, and goes on once it is enabled', async () => {
  const { id } = await destinations.create({ url: receiver.url, types: ['token.created', 'token.revoked'] });
  refuseAll();
  const tokens: string[] = [];
  for (let hour = 0; hour < 24; hour += 2) {
    tokens.push(await createToken());
    const before = receiver.refused.length;
    await pass(2 * HOUR);
    await refused(before + 1);
  }
  receiver.answerWith(() => 204);
  await pass(HOUR);
  for (const token of tokens) await received(token);
  expect((await destinations.get(id)).failingSince).toBeNull();

  refuseAll();
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
     join users on users.id = user_id where detail ->> 'notice' = 'destinationDisabled'`,
  );
  expect(rows).toEqual([{ email: admin.email, notice: 'destinationDisabled', url: receiver.url }]);
  const { body: audit } = await identity.call('GET', '/api/v1/audit?action=destination.disabled', { token: session });
  expect(audit.data).toMatchObject([{ subjectId: id, actorId: null, reason: 'failing' }]);

  receiver.answerWith(() => 204);
  tokens.push(await createToken());
  expect((await destinations.call('PATCH', `/${id}`, { isEnabled: true })).status).toBe(200);
  for (const token of tokens) await received(token);
  expect(new Set(subjects())).toEqual(new Set(tokens));
  expect(receiver.accepted).toHaveLength(tokens.length);
}); // prettier-ignore

test('AUD-9 a receiver of logs that is away for seven days gets everything, in order, once it is enabled again', async () => {
  const { id } = await destinations.create({ form: 'logs', url: receiver.url, types: ['token.created'] });
  refuseAll();
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
}); // prettier-ignore

test('AUD-7 a replica that is killed loses nothing: the next one sends what was not stored, under the same ids', async () => {
  const database = await createIdentityDatabase();
  const db = new pg.Pool({ connectionString: database.url, max: 1 });
  const environment = { ...environmentFor(database.url), ...ALLOW_RECEIVERS };
  let server = await startServer(environment);
  try {
    const call = (method: string, path: string, options?: CallOptions) => callUrl(server.url + path, method, options);
    const { body } = await call('POST', '/api/v1/auth/login', { body: admin });
    await createDestinations({ call }, body.accessToken as string).create({ url: receiver.url });
    receiver.answerWith((_, response) => {
      setTimeout(() => response.writeHead(204).end(), 50);
      return undefined;
    });
    const ids: string[] = Array.from({ length: 300 }, () => randomUUID());
    await db.query(
      `insert into audit_entries (id, org_id, action, created_at)
       select id, (select id from organisations), 'token.first_used', now() from unnest($1::uuid[]) id`,
      [ids],
    );
    const sent = () => receiver.refused.map((request) => toFact(request).id).filter((id) => ids.includes(id));
    await waitFor(() => sent().length >= 50, { what: 'some deliveries' });
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
}); // prettier-ignore

test('AUD-7 a hundred destinations that never answer delay no other, neither of another organisation nor of their own', async () => {
  const dead = await startReceiver();
  dead.answerWith(() => undefined);
  await destinations.create({ url: receiver.url, types: ['token.created'] });
  await received(await createToken());
  for (let index = 0; index < 99; index += 1)
    await destinations.create({ url: `${dead.url}/${index}`, types: ['token.created'] });
  const other = await identity.createOrganisation('boss@other.example');
  const theirs = await startReceiver();
  await createDestinations(identity, other.session).create({ url: theirs.url, types: ['token.created'] });
  const measure = async (token: string, to: Receiver) => {
    const stopwatch = startStopwatch();
    await received(await createToken(token), to);
    return stopwatch.stop();
  };
  const ofOthers: number[] = [];
  const ofTheirOwn: number[] = [];
  for (let round = 0; round < 5; round += 1) {
    ofTheirOwn.push(await measure(session, receiver));
    ofOthers.push(await measure(other.session, theirs));
  }
  expect(dead.refused.length).toBeGreaterThan(0);
  // In line, the dead ones would take 40 seconds.
  expect(Math.max(...ofOthers)).toBeLessThan(5_000);
  expect(Math.max(...ofTheirOwn.slice(1))).toBeLessThan(20_000);
  await Promise.all([dead.close(), theirs.close()]);
});
