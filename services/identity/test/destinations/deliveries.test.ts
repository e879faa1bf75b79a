import { waitFor } from '@platform/testing';
import { Webhook } from 'standardwebhooks';
import { startIdentity } from '../identity.js';
import { ALLOW_RECEIVERS, closeScenes, openScene, startReceiver, toFact } from './receiver.js';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

const identity = await startIdentity({ environment: ALLOW_RECEIVERS });
afterEach(() => closeScenes(identity));
afterAll(() => identity.close());

interface LogRecord {
  readonly timeUnixNano: string;
  readonly severityText: string;
  readonly eventName: string;
  readonly body: { readonly stringValue: string };
  readonly attributes: readonly { key: string; value: { stringValue?: string; intValue?: string } }[];
}

const toRecords = (body: string): LogRecord[] =>
  JSON.parse(body).resourceLogs.flatMap(({ scopeLogs }: { scopeLogs: { logRecords: LogRecord[] }[] }) =>
    scopeLogs.flatMap(({ logRecords }) => logRecords),
  );
const toIds = (records: readonly LogRecord[]) =>
  records.map(({ body }) => JSON.parse(body.stringValue).id as string);

/** A scene whose receiver takes logs. */
async function openLogScene() {
  const scene = await openScene(identity);
  return {
    ...scene,
    accepted: () => scene.receiver.accepted.flatMap(({ body }) => toRecords(body)),
    async createTokens(count: number): Promise<void> {
      for (let index = 0; index < count; index += 1) await scene.createToken();
    },
    feedIds: async (): Promise<string[]> =>
      (await scene.call('GET', '/api/v1/events?limit=1000&types=token.created')).body.data.map(
        ({ id }: { id: string }) => id,
      ),
  };
}

test('AUD-9 a receiver of logs gets every fact in order, with what security tools search by, and waits with the rest', async () => {
  const { destinations, receiver, refused, accepted, createTokens, feedIds } = await openLogScene();
  const credential = { header: 'authorization', value: 'Bearer a-secret-of-the-collector' };
  const answer = await destinations.call('POST', '', {
    form: 'logs', url: `${receiver.url}/v1/logs`, types: ['token.created'], credential,
  });
  expect([answer.status, answer.body.secret, answer.body.destination.credentialHeader]).toEqual([201, null, 'authorization']);
  const { id } = answer.body.destination;
  receiver.answerWith(() => 503);
  await createTokens(5);
  await refused(1);
  await createTokens(5);
  receiver.answerWith(() => 200);
  const ids = await feedIds();
  await waitFor(() => accepted().length >= 10, { what: 'the logs' });
  expect(toIds(accepted())).toEqual(ids);
  expect(receiver.accepted[0]?.headers['authorization']).toBe(credential.value);
  const [first] = accepted();
  const fact = JSON.parse(first?.body.stringValue ?? '');
  expect(first).toMatchObject({ eventName: 'token.created', severityText: 'INFO' });
  expect(first?.timeUnixNano).toBe(`${Date.parse(fact.time)}000000`);
  const attributes = Object.fromEntries(
    (first?.attributes ?? []).map(({ key, value }) => [key, value.stringValue ?? Number(value.intValue)]),
  );
  expect(attributes).toMatchObject({
    'cloudevents.event_id': fact.id,
    'cloudevents.event_type': 'token.created',
    'ocsf.class_uid': 3_004,
    'ocsf.activity_id': 1,
    'ocsf.type_uid': 300_401,
    'ocsf.activity_name': 'token.created',
    'ocsf.actor.user.uid': fact.data.actorId,
    'ocsf.entity.uid': fact.data.subjectId,
    'ocsf.src_endpoint.ip': '127.0.0.1',
    'ocsf.time': Date.parse(fact.time),
  });

  const deliveries = await waitFor(async () => {
    const data = await destinations.listDeliveries(id, '&state=delivered');
    return data.reduce((sum: number, { facts }: { facts: number }) => sum + facts, 0) === 10 && data;
  }, { what: 'the outcomes' });
  const [last] = deliveries;
  receiver.accepted.length = 0;
  expect((await destinations.call('POST', `/${id}/deliveries/${last.id}/send-again`)).status).toBe(202);
  await waitFor(() => accepted().length === last.facts, { what: 'the repetition' });
  expect(toIds(accepted())).toEqual(ids.slice(-last.facts));
}); // oxfmt-ignore

test('AUD-9 what a receiver drops is not sent to it again, and a secret goes to no other origin', async () => {
  const { destinations, receiver, refused, createTokens } = await openLogScene();
  receiver.answerWith((_, response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end('{"partialSuccess":{"rejectedLogRecords":"1"}}');
    return undefined;
  });
  const { body } = await destinations.call('POST', '', {
    form: 'logs', url: receiver.url, types: ['token.created'], credential: { header: 'authorization', value: 'Bearer x' },
  });
  const { id } = body.destination;
  await createTokens(1);
  await refused(1);
  await waitFor(async () => (await destinations.listDeliveries(id))[0]?.attempts.at(-1).fault === 'rejected_in_part', { what: 'the outcome' });
  expect(await destinations.listDeliveries(id, '&state=waiting')).toEqual([]);
  const moved = await destinations.call('PATCH', `/${id}`, { url: 'http://127.0.0.1:9/v1/logs' });
  expect([moved.status, moved.body.error.details[0].field]).toEqual([400, 'credential']);
  expect((await destinations.call('POST', `/${id}/secret`)).body.error.code).toBe('NO_SIGNING_SECRET');
}); // oxfmt-ignore

test('AUD-23 a batch that is too large is halved, a fact that is refused is passed over, and a long answer is an answer', async () => {
  const { destinations, receiver, refused, accepted, createTokens, feedIds } = await openLogScene();
  receiver.answerWith(() => 503);
  const { id } = await destinations.create({ form: 'logs', url: receiver.url });
  await createTokens(9);
  const ids = await feedIds();
  await refused(1);
  receiver.accepted.length = 0;
  receiver.answerWith(({ body }, response) => {
    const records = toIds(toRecords(body));
    if (records.length > 4) return 413;
    if (records.includes(ids[5] as string)) return 400;
    response.write(' '.repeat(100_000));
    return 200;
  });
  await waitFor(() => accepted().length >= 8, { what: 'the logs' });
  await waitFor(async () => (await destinations.listDeliveries(id, '&state=waiting')).length === 0, { what: 'the outcomes' });
  expect(toIds(accepted())).toEqual(ids.filter((one) => one !== ids[5]));
  const [failed, ...others] = await destinations.listDeliveries(id, '&state=failed');
  expect([failed, others]).toMatchObject([{ facts: 1 }, []]);
}); // oxfmt-ignore

test('AUD-16 a webhook gets each fact once, signed as Standard Webhooks prescribes, and nothing of other organisations', async () => {
  const { orgId, destinations, receiver, call, createToken, received, subjects } = await openScene(identity);
  const { id, secret } = await destinations.create({ url: `${receiver.url}/hook` });
  await (await openScene(identity)).createToken();
  const token = await createToken();
  const request = await received(token);
  const webhook = new Webhook(secret);
  const headers = request.headers as Record<string, string>;
  const fact = webhook.verify(request.body, headers) as { id: string; type: string; source: string };
  expect([fact.type, fact.source, fact.id]).toEqual(['token.created', `/organisations/${orgId}`, headers['webhook-id']]);
  expect(() => webhook.verify(request.body.replace('created', 'removed'), headers)).toThrow();
  expect(() => new Webhook('whsec_AAAA').verify(request.body, headers)).toThrow();
  expect(request.path).toBe('/hook');

  const { body: feed } = await call('GET', '/api/v1/events?types=token.created');
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
}); // oxfmt-ignore

test('AUD-7 what is not accepted is sent again under its id, when the receiver wants it', async () => {
  const { destinations, receiver, createToken, pass, received, refused, subjects } = await openScene(identity);
  const { id } = await destinations.create({ url: receiver.url });
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
  const other = await startReceiver();
  await destinations.create({ url: other.url });
  await received(await createToken(), other);
  await other.close();
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
}); // oxfmt-ignore

test('AUD-18 one fact that is refused keeps its own times, and delays no other', async () => {
  const { destinations, receiver, createToken, pass, received, refused, settled } = await openScene(identity);
  const { id } = await destinations.create({ url: receiver.url });
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

test('AUD-18 types that are always refused end as failed at the bound of what waits, and stop no other', async () => {
  const { orgId, destinations, receiver, createToken, pass, received, refused, settled, subjects } = await openScene(identity);
  const { id } = await destinations.create({ url: receiver.url });
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
}); // oxfmt-ignore

test('AUD-21 a change stops what is sent to the destination as it was', async () => {
  const { destinations, receiver, createToken, received, refused, settled } = await openScene(identity);
  const { id } = await destinations.create({ url: receiver.url });
  let answerOld: (() => void) | undefined;
  receiver.answerWith((_, response) => {
    answerOld = () => response.writeHead(410).end();
    return undefined;
  });
  const token = await createToken();
  await refused(1);
  const next = await startReceiver();
  expect((await destinations.call('PATCH', `/${id}`, { url: next.url })).status).toBe(200);
  answerOld?.();
  await received(token, next);
  await settled();
  await received(await createToken(), next);
  expect(await destinations.get(id)).toMatchObject({ isEnabled: true, failingSince: null });
  await next.close();
}); // oxfmt-ignore

test('AUD-7 a secret that cannot be opened is no failure of the destination', async () => {
  const { destinations, receiver, createToken, pass, received, settled } = await openScene(identity);
  const { id } = await destinations.create({ url: receiver.url });
  const setSecret = (sealed: string) =>
    identity.db.query<{ sealed: string }>(
      `update fact_destinations d set secret_sealed = $2 from fact_destinations before
       where d.id = $1 and before.id = d.id returning before.secret_sealed as sealed`,
      [id, sealed],
    );
  const { rows } = await setSecret('unreadable');
  const token = await createToken();
  const isClaimed = async () =>
    (await identity.db.query('select from fact_destinations where id = $1 and claimed_until is not null', [id])).rowCount === 1;
  await waitFor(isClaimed, { what: 'the claim' });
  await setSecret(rows[0]?.sealed ?? '');
  await pass(16_000);
  await received(token);
  await settled();
  expect(await destinations.get(id)).toMatchObject({ failingSince: null });
  expect(await destinations.listDeliveries(id)).toMatchObject([{ attempts: [{ status: 204 }] }]);
}); // oxfmt-ignore

test('AUD-20 facts that are deleted before they were sent are one delivery that failed', async () => {
  const { destinations, receiver, createToken, pass, received, subjects } = await openScene(identity);
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
}); // oxfmt-ignore

test('AUD-17 each secret that was replaced signs for its day, however often one is replaced', async () => {
  const { destinations, receiver, createToken, pass, received, settled } = await openScene(identity);
  const { id, secret } = await destinations.create({ url: receiver.url });
  const replace = () => destinations.call('POST', `/${id}/secret`);
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
  const second = await replace();
  expect(second.status).toBe(201);
  await pass(DAY / 2);
  const third = await replace();
  const secrets = [secret, second.body.secret, third.body.secret];
  const { previousSecretUntil } = third.body.destination;
  expect(Date.parse(previousSecretUntil) - Date.parse(second.body.destination.previousSecretUntil))
    .toBeGreaterThanOrEqual(DAY / 2);
  const expectVerifying = async (expected: boolean[]) => {
    const request = await received(await createToken());
    expect(secrets.map((key) => verifies(key, request))).toEqual(expected);
    await settled();
  };
  await expectVerifying([true, true, true]);
  await pass(DAY / 2);
  await expectVerifying([false, true, true]);
  await pass(DAY / 2);
  await expectVerifying([false, false, true]);

  const statuses: number[] = [];
  for (let replaced = 0; replaced < 21; replaced += 1) statuses.push((await replace()).status);
  expect(statuses).toEqual([...Array.from({ length: 20 }, () => 201), 409]);
  expect((await replace()).body.error.code).toBe('TOO_MANY_SECRETS');
  await pass(DAY);
  expect((await replace()).status).toBe(201);
}); // oxfmt-ignore

test('AUD-8 a request goes where the operator lets it, follows no redirect, and is tested without a trace', async () => {
  const { destinations, receiver } = await openScene(identity);
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
  expect((await destinations.call('POST', `/${id}/test`)).body).toMatchObject({ isAccepted: false, fault: 'no_address' });
}); // oxfmt-ignore

const never = (): never => {
  throw new Error('nothing was received');
};

test('AUD-8 an organisation sees its own destinations alone, and what is done with them is audited without the path', async () => {
  const { destinations, receiver, call } = await openScene(identity);
  const { id } = await destinations.create({ url: `${receiver.url}/secret-path`, types: ['token.leaked'] });
  const other = await openScene(identity);
  expect((await other.destinations.call('GET')).body.data).toEqual([]);
  await destinations.call('PATCH', `/${id}`, { description: 'The security team', url: `${receiver.url}/other` });
  await destinations.call('POST', `/${id}/secret`);
  expect((await destinations.call('DELETE', `/${id}`)).status).toBe(200);
  expect((await destinations.call('GET', `/${id}`)).status).toBe(404);
  const { body } = await call('GET', `/api/v1/audit?subjectId=${id}`);
  expect(body.data.map(({ action }: { action: string }) => action)).toEqual([
    'destination.removed', 'destination.secret_replaced', 'destination.changed', 'destination.created',
  ]);
  expect(body.data[2]).toMatchObject({
    detail: { url: `${receiver.url}/…`, path: 'changed' },
    changes: { description: { from: '', to: 'The security team' } },
  });
  expect(JSON.stringify(body)).not.toContain('secret-path');
}); // oxfmt-ignore
