import { waitFor } from '@platform/testing';
import { Webhook } from 'standardwebhooks';
import { type IdentityUnderTest, startIdentity } from '../identity.js';
import { ALLOW_RECEIVERS, createDestinations, type Receiver, startReceiver, toFact } from './receiver.js';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

let identity: IdentityUnderTest;
let session: string;
let orgId: string;
let receiver: Receiver;
let destinations: ReturnType<typeof createDestinations>;

beforeAll(async () => {
  // Mails are stored, and never sent.
  identity = await startIdentity({ environment: { ...ALLOW_RECEIVERS, MAIL_URL: 'http://127.0.0.1:9' } });
});
let count = 0;
beforeEach(async () => {
  ({ orgId, session } = await identity.createOrganisation(`boss${++count}@hooks.example`));
  destinations = createDestinations(identity, session);
  receiver = await startReceiver();
});
afterEach(async () => {
  await identity.db.query('update fact_destinations set is_enabled = false');
  await receiver.close();
});
afterAll(() => identity.close());

/** Causes a fact. @returns the id of the token that it is about. */
const createToken = async (token = session): Promise<string> =>
  (await identity.createToken(token, { scopes: ['user:read'] })).id;
/** Signs in again after time has passed. */
async function pass(milliseconds: number): Promise<void> {
  identity.advance(milliseconds);
  session = await identity.login({ email: `boss${count}@hooks.example`, password: 'correct-horse-battery' });
  destinations = createDestinations(identity, session);
}
const subjects = () => receiver.accepted.map((request) => toFact(request).data['subjectId']);
const received = (subject: string) =>
  waitFor(() => receiver.accepted.find((request) => toFact(request).data['subjectId'] === subject), {
    what: 'the fact',
  });
/** Waits until what became of all requests is stored. */
const settled = () =>
  waitFor(
    async () =>
      (await identity.db.query('select from fact_destinations where claimed_until is not null')).rowCount ===
      0,
    { what: 'the outcomes' },
  );
const refused = (number: number) => waitFor(() => receiver.refused.length >= number, { what: 'the refusal' });

test('AUD-6 a webhook gets each fact once, signed as Standard Webhooks prescribes, and nothing of other organisations', async () => {
  const { id, secret } = await destinations.create({ url: `${receiver.url}/hook`, types: ['token.created'] });
  const other = await identity.createOrganisation(`other${count}@hooks.example`);
  await createToken(other.session);
  const token = await createToken();
  const request = await received(token);
  const webhook = new Webhook(secret);
  const headers = request.headers as Record<string, string>;
  const fact = webhook.verify(request.body, headers) as { id: string; type: string; source: string };
  expect([fact.type, fact.source, fact.id]).toEqual(['token.created', `/organisations/${orgId}`, headers['webhook-id']]);
  expect(() => webhook.verify(request.body.replace('created', 'removed'), headers)).toThrow();
  expect(() => new Webhook('whsec_AAAA').verify(request.body, headers)).toThrow();
  expect(request.path).toBe('/hook');

  const { body: feed } = await identity.call('GET', '/api/v1/events?types=token.created', { token: session });
  expect(feed.data).toEqual([JSON.parse(request.body)]);
  const deliveries = await waitFor(async () => {
    const data = await destinations.listDeliveries(id);
    return data.length > 0 && data;
  }, { what: 'the delivery' });
  expect(deliveries).toMatchObject([
    { factId: fact.id, type: 'token.created', facts: 1, state: 'delivered', nextAttemptAt: null, attempts: [{ status: 204, fault: null }] },
  ]);
  expect(subjects()).toEqual([token]);
  const { rows } = await identity.db.query<{ all: string }>('select fact_destinations::text as all from fact_destinations');
  expect(rows.map(({ all }) => all).join('\n')).not.toContain(secret);
}); // prettier-ignore

test('AUD-7 what is not accepted is sent again under its id, when the receiver wants it', async () => {
  const { id } = await destinations.create({ url: receiver.url, types: ['token.created'] });
  receiver.answerWith((_, response) => {
    response.setHeader('retry-after', '7200');
    return 429;
  });
  const token = await createToken();
  await refused(1);
  const state = () => destinations.listDeliveries(id);
  await waitFor(async () => (await state())[0]?.state === 'waiting', { what: 'the outcome' });
  expect((await state())[0].attempts).toMatchObject([{ status: 429, fault: 'http_error' }]);
  receiver.answerWith(() => 204);
  await pass(1.9 * HOUR);
  const later = await createToken();
  // Every other destination is served meanwhile.
  const { url, accepted, close } = await startReceiver();
  await destinations.create({ url, types: ['token.created'] });
  const seen = await createToken();
  await waitFor(() => accepted.some((request) => toFact(request).data['subjectId'] === seen), { what: 'the other' });
  await close();
  expect(receiver.accepted).toEqual([]);
  await pass(0.2 * HOUR);
  const request = await received(token);
  expect(request.headers['webhook-id']).toBe(receiver.refused[0]?.headers['webhook-id']);
  await received(later);
  const page = await waitFor(async () => {
    const data = await destinations.listDeliveries(id, '&state=delivered');
    return data.length === 3 && data;
  }, { what: 'the outcomes' });
  expect(page.at(-1)).toMatchObject({ attempts: [{ status: 429 }, { status: 204 }] });

  // A receiver that lost something asks for it once more.
  const again = await destinations.call('POST', `/${id}/deliveries/${page.at(-1).id}/send-again`);
  expect(again.status).toBe(202);
  await waitFor(() => subjects().filter((subject) => subject === token).length === 2, { what: 'the repetition' });
}); // prettier-ignore

test('AUD-7 one fact that is refused keeps its own times, and delays no other', async () => {
  const { id } = await destinations.create({ url: receiver.url, types: ['token.created'] });
  const poison = await createToken();
  receiver.answerWith((request) => (toFact(request).data['subjectId'] === poison ? 500 : 204));
  await refused(1);
  await received(await createToken());
  await settled();
  await pass(6_000);
  await refused(2);
  await received(await createToken());
  await settled();
  const waiting = await destinations.listDeliveries(id, '&state=waiting');
  expect(waiting).toMatchObject([{ attempts: [{ status: 500 }, { status: 500 }] }]);
  const [{ nextAttemptAt, attempts }] = waiting;
  expect(Date.parse(nextAttemptAt) - Date.parse(attempts[1].at)).toBeGreaterThanOrEqual(60_000);
});

test('AUD-7 types that are always refused end as failed at the bound of what waits, and stop no other', async () => {
  const { id } = await destinations.create({ url: receiver.url, types: ['token.created'] });
  await received(await createToken());
  await settled();
  const [{ createdAt }] = await destinations.listDeliveries(id);
  await identity.db.query(
    `insert into fact_deliveries (id, destination_id, org_id, fact_id, facts, first_position, last_position, state,
       attempt_count, attempts, next_attempt_at, created_at)
     select gen_random_uuid(), $1, $2, gen_random_uuid(), 1, 0, 0, 'waiting', 2, '[]', $3::timestamptz + interval '9 hours', $3
     from generate_series(1, 1000)`,
    [id, orgId, createdAt],
  );
  const poison = await createToken();
  receiver.answerWith((request) => (toFact(request).data['subjectId'] === poison ? 400 : 204));
  await refused(1);
  const token = await createToken();
  await settled();
  await pass(6_000);
  await received(token);
  await waitFor(async () => (await destinations.listDeliveries(id, '&state=failed')).length === 1, { what: 'the end of one' });
  const later = await createToken();
  await received(later);
  expect(subjects()).toEqual(expect.arrayContaining([token, later]));
}); // prettier-ignore

test('AUD-7 a change stops what is sent to the destination as it was', async () => {
  const { id } = await destinations.create({ url: receiver.url, types: ['token.created'] });
  let answerOld: (() => void) | undefined;
  receiver.answerWith((_, response) => {
    answerOld = () => response.writeHead(410).end();
    return undefined;
  });
  const token = await createToken();
  await refused(1);
  const { url, accepted, close } = await startReceiver();
  expect((await destinations.call('PATCH', `/${id}`, { url })).status).toBe(200);
  answerOld?.();
  await waitFor(() => accepted.some((request) => toFact(request).data['subjectId'] === token), { what: 'the fact' });
  await settled();
  const later = await createToken();
  await waitFor(() => accepted.some((request) => toFact(request).data['subjectId'] === later), { what: 'the next' });
  expect(await destinations.get(id)).toMatchObject({ isEnabled: true, failingSince: null });
  await close();
}); // prettier-ignore

test('AUD-7 a secret that cannot be opened is no failure of the destination', async () => {
  const { id } = await destinations.create({ url: receiver.url, types: ['token.created'] });
  const setSecret = (sealed: string) =>
    identity.db.query<{ sealed: string }>(
      `update fact_destinations d set secret_sealed = $2 from fact_destinations before
       where d.id = $1 and before.id = d.id returning before.secret_sealed as sealed`,
      [id, sealed],
    );
  const { rows } = await setSecret('unreadable');
  const token = await createToken();
  const isClaimed = async () =>
    (await identity.db.query('select from fact_destinations where claimed_until is not null')).rowCount === 1;
  await waitFor(isClaimed, { what: 'the claim' });
  await setSecret(rows[0]?.sealed ?? '');
  await pass(16_000);
  await received(token);
  await settled();
  expect(await destinations.get(id)).toMatchObject({ failingSince: null });
  expect(await destinations.listDeliveries(id)).toMatchObject([{ attempts: [{ status: 204 }] }]);
}); // prettier-ignore

test('AUD-7 facts that are deleted before they were sent are one delivery that failed', async () => {
  const { id } = await destinations.create({ url: receiver.url, types: ['token.created'], isEnabled: false });
  await createToken();
  await createToken();
  await pass(15 * DAY);
  /** Facts are deleted once they have their places. */
  const deleted = (facts: number) =>
    waitFor(
      async () => {
        await identity.sweep();
        return (await destinations.listDeliveries(id))[0]?.facts === facts;
      },
      { what: 'the gap' },
    );
  await deleted(2);
  await createToken();
  await deleted(3);
  const deliveries = await destinations.listDeliveries(id);
  expect(deliveries).toMatchObject([{ state: 'failed', factId: null, attempts: [{ status: null, fault: 'fact_deleted' }] }]);
  await destinations.call('PATCH', `/${id}`, { isEnabled: true });
  const token = await createToken();
  await received(token);
  expect(subjects()).toEqual([token]);
}); // prettier-ignore

test('AUD-7 a slow receiver delays no other one behind the same name', async () => {
  receiver.answerWith(({ path }) => (path.startsWith('/slow') ? undefined : 204));
  for (let index = 0; index < 12; index += 1)
    await destinations.create({ url: `${receiver.url}/slow/${index}`, types: ['token.created'] });
  // They have accepted something, so each is sent ten at a time.
  await identity.db.query('update fact_destinations set is_accepting = true where org_id = $1', [orgId]);
  await identity.db.query(
    `insert into audit_entries (id, org_id, action, created_at)
     select gen_random_uuid(), $1, 'token.created', now() from generate_series(1, 10)`,
    [orgId],
  );
  // More than undici's agents were given connections for, fewer than the 120 that a busy machine may not send in time.
  await refused(65);
  const other = await identity.createOrganisation(`fast${count}@hooks.example`);
  await createDestinations(identity, other.session).create({ url: receiver.url, types: ['token.created'] });
  await received(await createToken(other.session));
  await waitFor(
    async () =>
      (await identity.db.query(`select from fact_deliveries where org_id = $1 and state = 'delivered'`, [other.orgId])).rowCount === 1,
    { what: 'the outcome' },
  );
  const { rows } = await identity.db.query(`select from fact_deliveries where org_id = $1 and state <> 'delivered'`, [other.orgId]);
  expect(rows).toEqual([]);
}); // prettier-ignore

test('AUD-6 two secrets are valid while one is replaced', async () => {
  const { id, secret } = await destinations.create({ url: receiver.url, types: ['token.created'] });
  const { status, body } = await destinations.call('POST', `/${id}/secret`);
  expect(status).toBe(201);
  const verifies = (key: string, request: { body: string; headers: object }) => {
    const seconds = Number((request.headers as Record<string, string>)['webhook-timestamp']);
    jest.spyOn(Date, 'now').mockReturnValue(seconds * 1_000);
    try {
      new Webhook(key).verify(request.body, request.headers as Record<string, string>);
      return true;
    } catch {
      return false;
    } finally {
      jest.restoreAllMocks();
    }
  };
  const both = await received(await createToken());
  expect([secret, body.secret].map((key) => verifies(key, both))).toEqual([true, true]);
  await pass(DAY);
  const one = await received(await createToken());
  expect([secret, body.secret].map((key) => verifies(key, one))).toEqual([false, true]);
});

test('AUD-8 a request goes where the operator lets it, follows no redirect, and is tested without a trace', async () => {
  const { id } = await destinations.create({ url: receiver.url, types: ['token.leaked'] });
  const tested = await destinations.call('POST', `/${id}/test`);
  expect(tested.body).toMatchObject({ isAccepted: true, status: 204, fault: null });
  expect(toFact(receiver.accepted[0] ?? never())).toMatchObject({ type: 'destination.test', data: { destinationId: id } });
  receiver.answerWith((_, response) => {
    response.setHeader('location', `${receiver.url}/elsewhere`);
    return 307;
  });
  expect((await destinations.call('POST', `/${id}/test`)).body).toMatchObject({ isAccepted: false, status: 307, fault: 'redirect' });
  expect(receiver.refused.map(({ path }) => path)).toEqual(['/']);
  expect(await destinations.listDeliveries(id)).toEqual([]);
  for (const url of ['http://10.0.0.1/', 'https://[::1]/', 'ftp://a.example/', 'https://a:b@c.example/'])
    expect((await destinations.call('POST', '', { form: 'webhook', url })).status).toBe(400);
  // The name is judged by what it resolves to.
  const moved = await destinations.call('PATCH', `/${id}`, { url: 'http://localhost:9/' });
  expect(moved.status).toBe(200);
  await identity.db.query(`update fact_destinations set url = 'http://10.0.0.1:80/' where id = $1`, [id]);
  expect((await destinations.call('POST', `/${id}/test`)).body).toMatchObject({ isAccepted: false, fault: 'target_denied' });
}); // prettier-ignore

const never = (): never => {
  throw new Error('nothing was received');
};

test('AUD-8 destinations are for administrators with a session, each of their own organisation; their acts are audited', async () => {
  const { id } = await destinations.create({ url: `${receiver.url}/secret-path`, types: ['token.leaked'] });
  const member = await identity.createMember(session);
  const { accessToken } = await identity.createToken(session, { scopes: ['events:read'] });
  const other = await identity.createOrganisation(`foreign${count}@hooks.example`);
  const call = (token: string, method: string, path: string, body?: object) =>
    identity.call(method, `/api/v1/events/destinations${path}`, { token, ...(body && { body }) });
  for (const token of ['', member.session, accessToken])
    expect((await call(token, 'GET', '')).status).toBe(token === '' ? 401 : 403);
  expect((await call(other.session, 'GET', '')).body.data).toEqual([]);
  for (const [method, path, body] of [
    ['GET', `/${id}`], ['PATCH', `/${id}`, { isEnabled: false }], ['DELETE', `/${id}`], ['POST', `/${id}/secret`],
    ['POST', `/${id}/test`], ['GET', `/${id}/deliveries`], ['POST', `/${id}/deliveries/${id}/send-again`],
  ] as const)
    expect([path, (await call(other.session, method, path, body)).status]).toEqual([path, 404]);

  await destinations.call('PATCH', `/${id}`, { description: 'The security team', url: `${receiver.url}/other` });
  await destinations.call('POST', `/${id}/secret`);
  expect((await destinations.call('DELETE', `/${id}`)).status).toBe(200);
  expect((await destinations.call('GET', `/${id}`)).status).toBe(404);
  const { body } = await identity.call('GET', `/api/v1/audit?subjectId=${id}`, { token: session });
  expect(body.data.map(({ action }: { action: string }) => action)).toEqual([
    'destination.removed', 'destination.secret_replaced', 'destination.changed', 'destination.created',
  ]);
  expect(body.data[2]).toMatchObject({
    detail: { url: `${receiver.url}/…`, path: 'changed' },
    changes: { description: { from: '', to: 'The security team' } },
  });
  expect(JSON.stringify(body)).not.toContain('secret-path');
}); // prettier-ignore
