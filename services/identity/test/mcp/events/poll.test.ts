import { randomUUID } from 'node:crypto';
import type { Answer } from '@platform/testing';
import { createCaller } from '../endpoint/endpoint.js';
import { useMounts } from '../servers/platform.js';
import { createCrawl, createMailFacts, WITH_SERVICES } from './reported-facts.js';

const site = await useMounts(WITH_SERVICES);
const { identity, session, mounts } = site;
const { orgId } = identity;
const crawl = createCrawl(identity);
const reportMail = createMailFacts(identity);

const ADMIN_SCOPES = ['crawl:read', 'events:read', 'pat:read', 'SEND_MAIL'];
const createToken = (scopes: string[], fields: object = {}, owner = session) =>
  identity.createToken(owner, { scopes, ...fields });

function createFollower(token: string) {
  const { modern, legacy } = createCaller(identity, token);
  const poll = async (name: string, args?: object, cursor: string | null = null, more: object = {}) =>
    modern('events/poll', { name, cursor, ...(args && { arguments: args }), ...more });
  return {
    modern,
    legacy,
    poll,
    list: async (): Promise<string[]> =>
      (await modern('events/list')).body.result.events.map(({ name }: { name: string }) => name),
    /** Follows a type from now on. @returns the events since the last call. */
    async follow(name: string, args?: object) {
      const start = await poll(name, args);
      let cursor = start.body.result?.cursor as string;
      if (start.body.error) throw new Error(start.text);
      return async () => {
        const { body } = await poll(name, args, cursor);
        cursor = body.result.cursor as string;
        return body.result.events as { eventId: string; data: Record<string, unknown> }[];
      };
    },
  };
}
const toIds = (events: readonly { eventId: string }[]) => events.map(({ eventId }) => eventId);
const getError = ({ status, body }: Answer) => [status, body.error?.code, body.error?.data];
const NOT_FOUND = [200, -32_011, { kind: 'event' }];

const admin = createFollower((await createToken(ADMIN_SCOPES)).accessToken);

test('EVT-10 both eras announce events where clients look for them, and there is no stream', async () => {
  const events = { events: {}, extensions: { 'io.modelcontextprotocol/events': {} } };
  const { modern, legacy } = createCaller(identity, session);
  expect((await modern('server/discover')).body.result.capabilities).toEqual({ tools: {}, ...events });
  const hello = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'a', version: '1' } };
  expect((await legacy('initialize', hello)).body.result.capabilities).toEqual({ tools: {}, ...events });
  for (const { method, status } of [
    { method: modern, status: 404 },
    { method: legacy, status: 200 },
  ])
    expect(getError(await method('events/stream', { name: 'crawl.failing' }))).toEqual([status, -32_601, undefined]);
  const inBoth = [await modern('events/list'), await legacy('events/list')].map(({ body }) => body.result.events);
  expect(inBoth[0]).toEqual(inBoth[1]);
  expect((await modern('events/list')).body.result).toMatchObject({ resultType: 'complete', cacheScope: 'private' });
}); // oxfmt-ignore

test('EVT-11 a credential lists the events of what its tools show, and others do not exist for it', async () => {
  const names = await admin.list();
  expect(names).toEqual(expect.arrayContaining(['documents.changed', 'crawl.failing', 'my_token.revoked', 'mail.failed', 'member.removed']));
  const described = (await admin.modern('events/list')).body.result.events;
  for (const { name, description, delivery, inputSchema, payloadSchema } of described) {
    expect([name, description.length > 40, delivery.includes('poll')]).toEqual([name, true, true]);
    expect([inputSchema, payloadSchema]).toMatchObject([{ type: 'object' }, { type: 'object' }]);
  }
  const member = await identity.createMember(session);
  const ofMember = createFollower((await createToken(['pat:read', 'crawl:read'], {}, member.session)).accessToken);
  const own = ['my_token.expiring', 'my_token.revoked', 'my_app.expiring', 'my_app.disconnected'];
  expect(await ofMember.list()).toEqual(own);
  const ofMails = createFollower((await createToken(['SEND_MAIL'])).accessToken);
  expect(await ofMails.list()).toEqual(['my_mail.failed', 'mail.failed', 'mail.unknown', 'mail.suppressed']);
  const unbound = await createToken(['events:read']);
  expect(await createFollower(unbound.accessToken).list()).toContain('member.removed');
  // A credential that is limited to anything sees nothing of the whole organisation.
  const bound = await createToken(['events:read', 'pat:read'], { bounds: { tools: ['list_my_tokens'] } });
  expect(await createFollower(bound.accessToken).list()).toEqual(own);
  const unknown = await ofMember.poll('nothing.happened');
  expect(getError(unknown)).toEqual(NOT_FOUND);
  for (const name of ['crawl.failing', 'member.removed', 'documents.changed'])
    expect((await ofMember.poll(name)).body).toEqual(unknown.body);
}); // oxfmt-ignore

test('EVT-12 a poll without a cursor begins now, and each event comes once, with the cursor', async () => {
  await crawl.endRun(orgId, 'wiki_1');
  const begin = (await admin.poll('crawl.run.completed')).body.result;
  expect(begin).toMatchObject({ events: [], hasMore: false, truncated: false, cursor: expect.any(String) });
  const ids = [await crawl.endRun(orgId, 'wiki_1'), await crawl.endRun(orgId, 'files_1'), await crawl.endRun(orgId, 'wiki_1')];
  const first = (await admin.poll('crawl.run.completed', {}, begin.cursor, { maxEvents: 2 })).body.result;
  expect([toIds(first.events), first.hasMore]).toEqual([ids.slice(0, 2), true]);
  expect(first.events[0]).toEqual({
    eventId: ids[0], name: 'crawl.run.completed', timestamp: expect.any(String),
    data: expect.objectContaining({ connector: 'wiki_1', counters: { items: 12, deleted: 1 } }),
  });
  const second = (await admin.poll('crawl.run.completed', {}, first.cursor)).body.result;
  expect([toIds(second.events), second.hasMore, second.nextPollMs > 0]).toEqual([ids.slice(2), false, true]);
  const recent = await admin.poll('crawl.run.completed', {}, begin.cursor, { maxAgeMs: 0 });
  expect(recent.body.result.events).toEqual([]);
}); // oxfmt-ignore

test('EVT-12 a cursor that the feed cannot continue from is answered with what there is, as truncated', async () => {
  const { cursor } = (await admin.poll('crawl.run.completed')).body.result;
  const id = await crawl.endRun(orgId, 'wiki_1');
  await identity.db.query('update outbox.head set epoch = gen_random_uuid()');
  const { result } = (await admin.poll('crawl.run.completed', {}, cursor)).body;
  expect([result.truncated, toIds(result.events).includes(id)]).toEqual([true, true]);
  const invalid = await admin.poll('crawl.run.completed', {}, 'not-a-cursor');
  expect(getError(invalid).slice(0, 2)).toEqual([200, -32_602]);
}); // oxfmt-ignore

test('EVT-13 arguments narrow what is followed, and what does not fit is refused', async () => {
  const follows = await Promise.all([
    admin.follow('crawl.run.completed', { connector: 'wiki_1' }),
    admin.follow('crawl.run.completed', { instance: 'other' }),
    admin.follow('crawl.failing', { minFailures: 3 }),
    admin.follow('documents.changed'),
  ]);
  const wiki = await crawl.endRun(orgId, 'wiki_1');
  const other = await crawl.endRun(orgId, 'files_1', { instance: 'other', counters: { items: 0, deleted: 0 } });
  await crawl.fail(orgId, 'wiki_1', 2);
  const failing = await crawl.fail(orgId, 'wiki_1', 3);
  const seen = await Promise.all(follows.map((next) => next()));
  expect(seen.map(toIds)).toEqual([[wiki], [other], [failing], [wiki]]);
  expect(seen[3]?.[0]?.data).toMatchObject({ connector: 'wiki_1', items: 12, deleted: 1 });
  for (const args of [{ connector: 1 }, { conector: 'wiki_1' }, { minFailures: 0 }])
    expect(getError(await admin.poll('crawl.failing', args)).slice(0, 2)).toEqual([200, -32_602]);
  for (const params of [{}, { name: 1 }, { name: 'crawl.failing', maxEvents: 'all' }])
    expect(getError(await admin.modern('events/poll', params)).slice(0, 2)).toEqual([200, -32_602]);
}); // oxfmt-ignore

test('EVT-13 bounds and groups decide about connectors as they do about tools', async () => {
  const { upstream } = site;
  const id = await mounts.mountInEffect(upstream.url, { search: 'kb:read' }, { connectors: ['files_1', 'code_1'] });
  const inside = await identity.createMember(session);
  const outside = await identity.createMember(session);
  const { body } = await identity.call('POST', '/api/v1/groups', { token: session, body: { name: 'Readers' } });
  await identity.call('POST', `/api/v1/groups/${body.group.id}/members`, { token: session, body: { members: [inside.id] } });
  await mounts.call('PATCH', `/${id}`, { allowedGroups: [body.group.id] });
  const follower = createFollower((await createToken(['kb:read'], {}, inside.session)).accessToken);
  const narrow = createFollower(
    (await createToken(['kb:read'], { bounds: { connectors: ['code_1'] } }, inside.session)).accessToken,
  );
  const stranger = createFollower((await createToken(['kb:read'], {}, outside.session)).accessToken);
  expect(await follower.list()).toEqual(['documents.changed']);
  expect(getError(await stranger.poll('documents.changed'))).toEqual(NOT_FOUND);
  const [all, code] = [await follower.follow('documents.changed'), await narrow.follow('documents.changed')];
  await crawl.endRun(orgId, 'wiki_1');
  const changed = [await crawl.endRun(orgId, 'files_1'), await crawl.endRun(orgId, 'code_1')];
  expect([toIds(await all()), toIds(await code())]).toEqual([changed, changed.slice(1)]);
  // A connector out of reach is answered as one that does not exist.
  const hidden = await narrow.poll('documents.changed', { connector: 'files_1' });
  const unknown = await narrow.poll('documents.changed', { connector: 'nothing_1' });
  expect([getError(hidden).slice(0, 2), hidden.body]).toEqual([[200, -32_602], unknown.body]);
  await identity.call('DELETE', `/api/v1/groups/${body.group.id}/members/${inside.id}`, { token: session });
  expect(getError(await follower.poll('documents.changed'))).toEqual(NOT_FOUND);
}); // oxfmt-ignore

test('EVT-14 what happens to tokens of the account needs no administrator, and is about no one else', async () => {
  const [one, two] = [await identity.createMember(session), await identity.createMember(session)];
  const followers = await Promise.all(
    [one, two].map(async (member) => {
      const { accessToken } = await createToken(['pat:read'], {}, member.session);
      return createFollower(accessToken).follow('my_token.revoked');
    }),
  );
  const revoked = await identity.createToken(one.session, { name: 'old laptop' });
  await identity.call('DELETE', `/api/v1/personal-access-tokens/${revoked.id}`, { token: one.session, body: { reason: 'lost' } });
  const [own, others] = await Promise.all(followers.map((next) => next()));
  expect(own).toMatchObject([{ data: { tokenId: revoked.id, name: 'old laptop', isLeaked: false, reason: 'lost' } }]);
  expect(Object.keys(own?.[0]?.data ?? {})).toEqual(['tokenId', 'name', 'expiresAt', 'isLeaked', 'reason']);
  expect(others).toEqual([]);
}); // oxfmt-ignore

test('EVT-30 a mail of the account that failed or bounced is an event for its sender alone', async () => {
  const other = await identity.createMember(session, 'admin');
  const [own, others] = await Promise.all(
    [session, other.session].map(async (owner) => {
      const { accessToken } = await createToken(['SEND_MAIL'], {}, owner);
      return createFollower(accessToken).follow('my_mail.failed');
    }),
  );
  const { body } = await identity.call('GET', '/api/v1/users/me', { token: session });
  const senderId = body.user.id as string;
  const [failed, unknown, bounced, ofPlatform, ofOther] = Array.from({ length: 5 }, () => randomUUID());
  const mail = { emailTemplateType: 'accountCreation', recipients: 1, attempts: 1 };
  const problem = { code: 'EENVELOPE', reply: 550, status: '5.1.1' };
  const ids = [
    await reportMail(orgId, 'mail.failed', { ...mail, mailId: failed, problem, senderId }),
    await reportMail(orgId, 'mail.unknown', { ...mail, mailId: unknown, problem: null, senderId }),
    await reportMail(orgId, 'mail.suppressed', {
      suppressionId: randomUUID(), reason: 'bounce', status: '5.1.1',
      mails: [{ mailId: bounced, senderId }, { mailId: ofOther, senderId: other.id }],
    }),
  ];
  await reportMail(orgId, 'mail.failed', { ...mail, mailId: ofPlatform, problem: null, senderId: null });
  await reportMail(orgId, 'mail.suppressed', {
    suppressionId: randomUUID(), reason: 'administrator', status: null, mails: [{ mailId: bounced, senderId }],
  });
  const events = await own?.();
  expect(toIds(events ?? [])).toEqual(ids);
  const ofMail = { emailTemplateType: 'accountCreation' };
  expect(events?.map(({ data }) => data)).toEqual([
    { mailIds: [failed], outcome: 'failed', status: '5.1.1', ...ofMail },
    { mailIds: [unknown], outcome: 'unknown', status: null, ...ofMail },
    { mailIds: [bounced], outcome: 'bounce', status: '5.1.1', emailTemplateType: null },
  ]);
  expect((await others?.())?.map(({ data }) => data['mailIds'])).toEqual([[ofOther]]);
}); // oxfmt-ignore

test('EVT-25 a connection that expires soon is an event for its account, once', async () => {
  const [one, two] = [await identity.createMember(session), await identity.createMember(session)];
  const followers = await Promise.all(
    [one, two].map(async (member) => {
      const { accessToken } = await createToken(['pat:read'], {}, member.session);
      return createFollower(accessToken).follow('my_app.expiring');
    }),
  );
  await identity.db.query(
    `insert into oauth_clients (id, kind, name, redirect_uris, grant_types, scopes, auth_method, created_at)
     values ('https://notes.example.com/', 'document', 'Notes agent', '{}', '{}', '{}', 'none', now())`,
  );
  const connect = async (owner: string, age: string, left: string): Promise<string> =>
    (await identity.db.query<{ id: string }>(
      `insert into oauth_grants (id, org_id, user_id, client_id, resource, scopes, created_at, expires_at)
       values (gen_random_uuid(), $1, $2, 'https://notes.example.com/', 'r', '{}', now() - $3::interval, now() + $4::interval) returning id`,
      [orgId, owner, age, left],
    )).rows[0]?.id ?? '';
  const due = [await connect(one.id, '84 days', '6 days'), await connect(one.id, '3 days', '2 days')];
  // There is time, or there was hardly any, or it is over.
  for (const [age, left] of [['80 days', '10 days'], ['1 day', '4 days'], ['90 days', '-1 minute']] as const) await connect(one.id, age, left);
  await identity.sweep();
  await identity.sweep();
  const [own, others] = await Promise.all(followers.map((next) => next()));
  const notes = { clientId: 'https://notes.example.com/', expiresAt: expect.any(String) };
  expect(own).toHaveLength(due.length);
  expect(own?.map(({ data }) => data)).toEqual(
    expect.arrayContaining(due.map((connectionId) => ({ connectionId, ...notes }))),
  );
  expect(others).toEqual([]);
}); // oxfmt-ignore
