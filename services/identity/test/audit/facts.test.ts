import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { factTypes, isAuditType, outboxSql } from '@platform/events';
import { waitFor } from '@platform/testing';
import { type AuditAction, auditActions } from '../../src/audit/actions.js';
import { insertAuditEntries, insertAuditEntry } from '../../src/audit/record.sql.js';
import { startIdentity } from '../identity.js';

/* The feed of an organisation's facts. */

const identity = await startIdentity();
const session = await identity.login();
afterAll(() => identity.close());

interface Fact {
  readonly id: string;
  readonly type: string;
  readonly data: { readonly id: string; readonly action: string; readonly subjectId: string | null };
}

const read = (query: Readonly<Record<string, string>> = {}, token = session) =>
  identity.call('GET', `/api/v1/events?${new URLSearchParams(query).toString()}`, { token });

/** Follows the feed to its end. */
async function follow(
  after: string | null,
  query: Readonly<Record<string, string>> = {},
): Promise<{ facts: Fact[]; cursor: string | null }> {
  const facts: Fact[] = [];
  for (let cursor = after, hasMore = true; ;) {
    const { status, body } = await read({ ...query, ...(cursor !== null && { after: cursor }) });
    expect(status).toBe(200);
    facts.push(...(body.data as Fact[]));
    cursor = body.nextCursor as string | null;
    ({ hasMore } = body as { hasMore: boolean });
    if (!hasMore) return { facts, cursor };
  }
}

test('AUD-5 a credential with bounds cannot read the feed, which is about more than these', async () => {
  const scopes = ['events:read'];
  const free = await identity.createToken(session, { scopes });
  const limited = await identity.createToken(session, { scopes, bounds: { connectors: ['wiki_1'] } });
  expect((await read({}, free.accessToken)).status).toBe(200);
  const { status, body } = await read({}, limited.accessToken);
  expect([status, body.error.code]).toEqual([403, 'OUT_OF_BOUNDS']);
  // The first use of a token is recorded later, and the tests below compare all that is new.
  await waitFor(
    async () => {
      const { facts } = await follow(null);
      return (
        facts.filter(({ type, data }) => type === 'audit.entry' && data.action === 'token.first_used')
          .length === 2
      );
    },
    { what: 'the record of both first uses' },
  );
});

test('the initial migration holds the outbox of packages/events, word for word', async () => {
  const path = new URL('../../prisma/migrations/20261124000000_initial/migration.sql', import.meta.url);
  expect(await readFile(path, 'utf8')).toContain(outboxSql);
});

test('has each entry of the audit once, as a CloudEvent of the type that it means', async () => {
  const { cursor } = await follow(null);
  const { id } = await identity.createToken(session, { name: 'ci', scopes: ['user:read'] });
  await identity.call('DELETE', `/api/v1/personal-access-tokens/${id}`, {
    token: session,
    body: { reason: 'no longer needed' },
  });
  const { facts } = await follow(cursor);
  expect(facts.map(({ type, data }) => [type, data.action, data.subjectId])).toEqual([
    ['token.created', 'token.created', id],
    ['token.revoked', 'token.revoked', id],
  ]);
  const { body } = await identity.call('GET', '/api/v1/audit?limit=1', { token: session });
  const [entry] = body.data;
  expect(facts.at(-1)).toEqual({
    specversion: '1.0',
    id: entry.id,
    source: `/organisations/${identity.orgId}`,
    type: 'token.revoked',
    time: entry.createdAt,
    datacontenttype: 'application/json',
    data: entry,
  });
  const { facts: revoked } = await follow(cursor, { types: 'token.revoked,member.removed', limit: '1' });
  expect(revoked.map(({ type }) => type)).toEqual(['token.revoked']);
  const { facts: audited } = await follow(cursor, { types: 'audit.entry' });
  expect(audited).toEqual(facts);
});

test('an entry of each action is a fact of the type that the action names', async () => {
  const { cursor } = await follow(null);
  const at = new Date();
  const actor = { actorId: null, credential: null, client: null };
  const entry = { orgId: identity.orgId, actor, subjectId: randomUUID(), at };
  const actions = Object.entries(auditActions) as [AuditAction, (typeof auditActions)[AuditAction]][];
  await insertAuditEntries(
    identity.db,
    actions.map(([action]) => ({ ...entry, action })),
  );
  await insertAuditEntry(identity.db, { ...entry, action: 'session.created', detail: { device: 'new' } });
  const { facts } = await follow(cursor);
  expect(facts.map(({ type, data }) => [data.action, type])).toEqual([
    ...actions.map(([action, type]) => [action, typeof type === 'string' ? type : 'audit.entry']),
    ['session.created', 'session.suspicious'],
  ]);
  // Every type that is promised to consumers occurs.
  expect([...new Set(facts.map(({ type }) => type))].toSorted()).toEqual(
    Object.keys(factTypes).filter(isAuditType).toSorted(),
  );
});

test('misses and repeats nothing for a reader that follows while many write, in whatever order they commit', async () => {
  const { cursor: start } = await follow(null);
  let isDone = false;
  const seen: Fact[] = [];
  const reading = (async () => {
    let cursor = start;
    for (let isLast = false; !isLast;) {
      isLast = isDone;
      const page = await follow(cursor, { limit: '7' });
      seen.push(...page.facts);
      ({ cursor } = page);
    }
  })();
  await Promise.all(
    Array.from({ length: 8 }, async (_, worker) => {
      for (let index = 0; index < 5; index += 1)
        await identity.createToken(session, { name: `t-${worker}-${index}`, scopes: ['user:read'] });
    }),
  );
  isDone = true;
  await reading;
  const { rows } = await identity.db.query<{ id: string }>(
    `select id from audit_entries where action = 'token.created' order by id desc limit 40`,
  );
  expect(seen.map(({ id }) => id).toSorted()).toEqual(rows.map(({ id }) => id).toSorted());
});

test('is read back from the newest fact, too', async () => {
  const { facts } = await follow(null, { types: 'audit.entry' });
  for (const types of [undefined, 'audit.entry'] as const) {
    const back: Fact[] = [];
    let after: string | null = null;
    do {
      const query = {
        order: 'newest',
        limit: '7',
        ...(types && { types }),
        ...(after !== null && { after }),
      };
      const { body } = await read(query);
      back.push(...(body.data as Fact[]));
      after = body.nextCursor as string | null;
    } while (after !== null);
    expect(back.map(({ id }) => id)).toEqual(facts.map(({ id }) => id).toReversed());
  }
});

test('an organisation reads its own facts, and no others', async () => {
  const created = await identity.createOrganisation('boss@facts.example');
  const { body } = await read({ limit: '1000' }, created.session);
  const sources = new Set((body.data as { source: string }[]).map(({ source }) => source));
  expect(sources).toEqual(new Set([`/organisations/${created.orgId}`]));
});

test('refuses what it cannot answer', async () => {
  const { cursor } = await follow(null);
  for (const query of [{ after: 'x' }, { types: 'nothing' }, { types: 'token.created,' }, { limit: '0' }])
    expect((await read(query)).status).toBe(400);
  await identity.db.query('update outbox.head set epoch = gen_random_uuid()');
  const gone = await read({ after: cursor ?? '' });
  expect([gone.status, gone.body.error.code]).toEqual([410, 'CURSOR_GONE']);
});
