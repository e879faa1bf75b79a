import { waitFor } from '@platform/testing';
import { startIdentity } from '../identity.js';
import { ALLOW_RECEIVERS, createDestinations, startReceiver } from './receiver.js';

/* Facts as OTLP logs. */

const identity = await startIdentity({ environment: ALLOW_RECEIVERS });
const session = await identity.login();
const destinations = createDestinations(identity, session);
const receiver = await startReceiver();
afterAll(async () => {
  await identity.close();
  await receiver.close();
});

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
const accepted = () => receiver.accepted.flatMap(({ body }) => toRecords(body));
const createTokens = async (count: number) => {
  for (let index = 0; index < count; index += 1)
    await identity.createToken(session, { scopes: ['user:read'] });
};
const feedIds = async () =>
  (
    await identity.call('GET', '/api/v1/events?limit=1000&types=token.created', { token: session })
  ).body.data.map(({ id }: { id: string }) => id);

test('AUD-9 a receiver of logs gets every fact in order, with what security tools search by, and waits with the rest', async () => {
  const credential = { header: 'authorization', value: 'Bearer a-secret-of-the-collector' };
  const answer = await destinations.call('POST', '', {
    form: 'logs', url: `${receiver.url}/v1/logs`, types: ['token.created'], credential,
  });
  expect([answer.status, answer.body.secret, answer.body.destination.credentialHeader]).toEqual([201, null, 'authorization']);
  const { id } = answer.body.destination;
  receiver.answerWith(() => 503);
  await createTokens(5);
  await waitFor(() => receiver.refused.length > 0, { what: 'a refusal' });
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
}); // prettier-ignore

test('AUD-9 what a receiver drops is not sent to it again, and a secret goes to no other origin', async () => {
  receiver.answerWith((_, response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end('{"partialSuccess":{"rejectedLogRecords":"1"}}');
    return undefined;
  });
  const before = receiver.refused.length;
  await createTokens(1);
  await waitFor(() => receiver.refused.length > before, { what: 'the request' });
  const { body } = await destinations.call('GET');
  const [{ id }] = body.data;
  await waitFor(async () => (await destinations.listDeliveries(id))[0].attempts.at(-1).fault === 'rejected_in_part', { what: 'the outcome' });
  expect(await destinations.listDeliveries(id, '&state=waiting')).toEqual([]);
  const moved = await destinations.call('PATCH', `/${id}`, { url: 'http://127.0.0.1:9/v1/logs' });
  expect([moved.status, moved.body.error.details[0].field]).toEqual([400, 'credential']);
  expect((await destinations.call('POST', `/${id}/secret`)).body.error.code).toBe('NO_SIGNING_SECRET');
}); // prettier-ignore

test('AUD-9 a batch that is too large is halved, a fact that is refused is passed over, and a long answer is an answer', async () => {
  const { body: page } = await destinations.call('GET');
  for (const { id } of page.data) await destinations.call('DELETE', `/${id}`);
  receiver.answerWith(() => 503);
  const { id } = await destinations.create({ form: 'logs', url: receiver.url, types: ['token.created'] });
  await createTokens(9);
  const ids: string[] = (await feedIds()).slice(-9);
  await waitFor(() => receiver.refused.length > 0, { what: 'a refusal' });
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
}); // prettier-ignore
