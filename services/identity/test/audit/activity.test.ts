import { randomUUID } from 'node:crypto';
import { factTypes, isAuditType } from '@platform/events';
import { waitFor } from '@platform/testing';
import { auditActions } from '../../src/audit/actions.js';
import { areas } from '../../src/facts/activity.js';
import { startIdentity } from '../identity.js';
import { createApplication, requestToken } from '../oauth/applications.js';

/* AUD-30: the activity of an organisation, for people. */

const identity = await startIdentity();
const session = await identity.login();
afterAll(() => identity.close());

interface Fact {
  readonly id: string;
  readonly type: string;
  readonly data: {
    readonly action: string;
    readonly actorId: string | null;
    readonly subjectId: string | null;
    readonly requestId: string | null;
  };
}

const read = (path = '', token = session) => identity.call('GET', `/api/v1/activity${path}`, { token });

async function readAll(about?: string): Promise<Fact[]> {
  const facts: Fact[] = [];
  let after: string | null = null;
  do {
    const query: URLSearchParams = new URLSearchParams({
      limit: '5',
      ...(about && { about }),
      ...(after !== null && { after }),
    });
    const { status, body } = await read(`?${query.toString()}`);
    expect(status).toBe(200);
    facts.push(...(body.data as Fact[]));
    after = body.hasMore ? (body.nextCursor as string) : null;
  } while (after !== null);
  return facts;
}

test('AUD-30 every action and type of a fact is in one area', () => {
  const subjects = Object.values<readonly string[]>(areas).flat();
  expect(new Set(subjects).size).toBe(subjects.length);
  const named = [
    ...Object.keys(auditActions),
    ...Object.keys(factTypes).filter((type) => !isAuditType(type)),
  ];
  const missing = named.filter((name) => !subjects.includes(name.split('.')[0] ?? ''));
  expect(missing).toEqual([]);
});

test('AUD-30 lists what happened, newest first and with names, by what it is about', async () => {
  const { id } = await identity.createToken(session, { name: 'ci of activity', scopes: ['user:read'] });
  await identity.call('POST', '/api/v1/groups', { token: session, body: { name: 'Gardeners' } });
  const all = await readAll();
  expect(all.map((fact) => fact.id)).toEqual(
    all
      .map((fact) => fact.id)
      .toSorted()
      .toReversed(),
  );
  const byArea = await Promise.all(Object.keys(areas).map((area) => readAll(area)));
  expect(byArea.flat().map((fact) => fact.id).toSorted()).toEqual(all.map((fact) => fact.id).toSorted()); // oxfmt-ignore
  const [people, agents] = byArea;
  expect(people?.some(({ type }) => type === 'group.created')).toBe(true);
  expect(agents?.map(({ data }) => [data.action, data.subjectId])).toEqual([['token.created', id]]);
  const { body } = await read('?about=agents');
  const [created] = body.data as Fact[];
  expect(body.names[id]).toEqual({ kind: 'token', name: 'ci of activity' });
  expect(body.names[created?.data.actorId ?? ''].kind).toBe('member');
});

test('AUD-30 one entry has an address, also when the feed no longer has it, and the id of its request', async () => {
  const requestId = `activity-${randomUUID()}`;
  const { body: created } = await identity.call('POST', '/api/v1/personal-access-tokens', {
    token: session,
    headers: { 'x-request-id': requestId },
    body: { name: 'one', scopes: ['user:read'] },
  });
  const entry = await waitFor(
    async () => (await readAll('agents')).find(({ data }) => data.subjectId === created.token.id),
    { what: 'the fact of the token' },
  );
  expect(entry.data.requestId).toBe(requestId);
  const { body } = await read(`/${entry.id}`);
  expect(body.fact).toEqual(entry);
  expect(body.names[created.token.id].name).toBe('one');
  // As after two weeks.
  const hidden = randomUUID();
  const rename = 'update outbox.events set event_id = $2 where event_id = $1';
  await identity.db.query(rename, [entry.id, hidden]);
  const kept = await read(`/${entry.id}`);
  await identity.db.query(rename, [hidden, entry.id]);
  expect(kept.body.fact.data).toEqual(entry.data);
  const { session: stranger } = await identity.createOrganisation('boss@activity.example');
  for (const [id, token] of [
    [entry.id, stranger],
    [randomUUID(), session],
  ] as const) {
    // oxfmt-ignore
    const { status, body: refused } = await read(`/${id}`, token);
    expect([status, refused.error.code]).toEqual([404, 'ACTIVITY_NOT_FOUND']);
  }
});

test('AUD-31 says what an id stands for, and nothing of another organisation', async () => {
  const { id } = await identity.createToken(session, { name: 'whose', scopes: ['user:read'] });
  const find = (subject: string, token = session) => read(`/subjects/${subject}`, token);
  expect((await find(id)).body).toEqual({ subject: { id, kind: 'token', name: 'whose' } });
  expect((await find(id.toUpperCase())).body.subject.id).toBe(id);
  const entry = (await readAll('agents')).find(({ data }) => data.subjectId === id);
  expect((await find(entry?.id ?? '')).body.subject).toEqual({
    id: entry?.id,
    kind: 'activity',
    name: 'token.created',
  });
  // An access token stands for what it acts for.
  const created = await createApplication(identity, session);
  const { clientId, serviceAccount } = created.application;
  const { body: issued } = await requestToken(identity, { clientId, clientSecret: created.clientSecret });
  const [, payload = ''] = (issued.access_token as string).split('.');
  const { jti } = JSON.parse(Buffer.from(payload, 'base64url').toString()) as { jti: string };
  expect((await find(jti)).body.subject).toMatchObject({ id: serviceAccount?.id, kind: 'service_account' });
  const { session: stranger } = await identity.createOrganisation('boss@subjects.example');
  for (const [subject, token] of [
    [id, stranger],
    [jti, stranger],
    [entry?.id ?? '', stranger],
    [randomUUID(), session],
  ] as const) {
    // oxfmt-ignore
    const { status, body } = await find(subject, token);
    expect([status, body.error.code]).toEqual([404, 'SUBJECT_NOT_FOUND']);
  }
});

test('AUD-30 is for administrators in a session', async () => {
  const member = await identity.createMember(session);
  const { accessToken } = await identity.createToken(session, { scopes: ['events:read'] });
  for (const token of [member.session, accessToken])
    for (const path of ['', `/${randomUUID()}`, `/subjects/${randomUUID()}`])
      expect((await read(path, token)).status).toBe(403);
  expect((await read('?after=x')).status).toBe(400);
  expect((await read('?about=nothing')).status).toBe(400);
});
