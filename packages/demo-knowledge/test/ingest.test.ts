import type { Client } from '@modelcontextprotocol/client';
import type { Document } from '@platform/crawl-worker/documents';
import { callUrl, testIdentity, waitFor } from '@platform/testing';
import { callText, startKnowledge } from './knowledge.js';

/* CRAWL-52: the ingest endpoint of the contract of documents, with the platform's own credentials. */

let knowledge: Awaited<ReturnType<typeof startKnowledge>>;
let token: string;
let createToken: (scope: string, bounds?: object) => Promise<string>;
let foreignToken: string;
let org: string;

beforeAll(async () => {
  const identity = await testIdentity();
  const openAccount = async () => {
    const { admin, orgId } = await identity.organisation();
    const login = await callUrl(`${identity.url}/api/v1/auth/login`, 'POST', { body: admin });
    const session = login.body.accessToken as string;
    return {
      orgId,
      session,
      createToken: async (scope: string, bounds?: object) => {
        const body = { name: scope, scopes: [scope], ...(bounds && { bounds }) };
        const created = await callUrl(`${identity.url}/api/v1/personal-access-tokens`, 'POST', {
          token: session,
          body,
        });
        return created.body.token.accessToken as string;
      },
    };
  };
  const [own, foreign] = await Promise.all([openAccount(), openAccount()]);
  org = own.orgId;
  createToken = own.createToken;
  token = await createToken('crawl:work');
  foreignToken = await foreign.createToken('crawl:work');
  knowledge = await startKnowledge({ hasCrawls: false, identityUrl: identity.url, org });
  await knowledge.start();
});
afterAll(() => knowledge.close());
beforeEach(() => knowledge.query('truncate documents'));

const document = (id: string, more: object = {}) => ({
  connector: 'wiki_1',
  instance: 'default',
  id,
  title: `Page ${id}`,
  text: `Text of ${id}`,
  access: [{ kind: 'everyone' }],
  fullCrawl: '2026-01-01T00:00:00.000Z',
  ...more,
});

async function post(lines: readonly (object | string)[], bearer: string | undefined = token) {
  const response = await fetch(new URL('/documents', knowledge.url), {
    method: 'POST',
    headers: {
      'content-type': 'application/x-ndjson',
      ...(bearer !== undefined && { authorization: `Bearer ${bearer}` }),
    },
    body: lines.map((line) => `${typeof line === 'string' ? line : JSON.stringify(line)}\n`).join(''),
  });
  return {
    status: response.status,
    headers: response.headers,
    // The tests examine responses of every shape.
    // oxlint-disable-next-line typescript/no-explicit-any
    body: (await response.json()) as any,
  };
}

/** Returns the texts by id; null is gone. */
async function read(): Promise<Record<string, string | null>> {
  const { rows } = await knowledge.query('select id, text from documents order by id');
  return Object.fromEntries(rows.map(({ id, text }: { id: string; text: string | null }) => [id, text]));
}

test('stores what is new and changed, and a batch that comes again changes nothing', async () => {
  const batch = [document('a'), document('b', { text: 'nul \0 is dropped' })];
  expect(await post(batch)).toMatchObject({ status: 200, body: { lines: 2 } });
  await knowledge.query('update documents set is_indexed = true');
  expect((await post(batch)).status).toBe(200);
  const unindexed = async () => (await knowledge.query('select id from documents where not is_indexed')).rows;
  expect(await unindexed()).toEqual([]);
  expect((await post([document('a', { text: 'new' })])).status).toBe(200);
  expect(await unindexed()).toEqual([{ id: 'a' }]);
  expect(await read()).toEqual({ a: 'new', b: 'nul  is dropped' });
});

test('the last line about a document counts', async () => {
  const gone = { connector: 'wiki_1', instance: 'default', id: 'a', deleted: true };
  await post([
    document('a'),
    document('a', { text: 'second' }),
    document('b'),
    gone,
    { ...gone, id: 'unknown' },
  ]);
  expect(await read()).toEqual({ b: 'Text of b' });
  await post([gone, document('a', { text: 'back' }), { ...gone, id: 'b' }]);
  expect(await read()).toEqual({ a: 'back', b: null });
});

test('what a full crawl has not seen is gone, in its instance alone', async () => {
  const fullCrawl = '2026-01-02T00:00:00.000Z';
  const origin = { connector: 'wiki_1', instance: 'default' };
  await post([document('a'), document('b'), document('c'), document('d', { fullCrawl: undefined })]);
  await post([document('e', { instance: 'other' }), document('f', { connector: 'files_1' })]);
  await post([document('a', { fullCrawl }), { ...origin, id: 'b', seen: true, fullCrawl }]);
  const completion = { ...origin, complete: true, fullCrawl };
  expect((await post([completion])).status).toBe(200);
  const after = { a: 'Text of a', b: 'Text of b', c: null, d: null, e: 'Text of e', f: 'Text of f' };
  expect(await read()).toEqual(after);
  expect((await post([completion])).status).toBe(200);
  expect(await read()).toEqual(after);
});

test.each([
  ['{"connector":', 'Line 2: must be an object'],
  ['[]', 'Line 2: '],
  [document('', {}), 'Line 2: /id '],
  [document('b', { title: undefined }), 'Line 2: '],
  [document('b', { access: undefined }), 'Line 2: '],
  [document('b', { access: [{ kind: 'group' }] }), 'Line 2: /access'],
  [document('b', { updatedAt: 'yesterday' }), 'Line 2: /updatedAt'],
])('refuses a whole batch with a line that breaks the contract: %j', async (line, message) => {
  const answer = await post([document('a'), line]);
  expect(answer).toMatchObject({ status: 400, body: { error: { code: 'INVALID_LINE' } } });
  expect(answer.body.error.message).toContain(message);
  expect(await read()).toEqual({});
});

test('refuses batches that are too large', async () => {
  expect((await post(Array.from({ length: 1_001 }, (_, index) => document(String(index))))).status).toBe(413);
  expect((await post([...Array<string>(17).fill(' '.repeat(1_048_576))])).status).toBe(413);
  expect(await read()).toEqual({});
});

test('accepts a token of its organisation with crawl:work, and no other', async () => {
  expect((await post([document('a')], undefined)).status).toBe(200);
  const none = await fetch(new URL('/documents', knowledge.url), { method: 'POST', body: '' });
  expect([none.status, none.headers.get('www-authenticate')]).toEqual([401, 'Bearer']);
  expect((await post([document('b')], 'none')).status).toBe(401);
  expect((await post([document('b')], foreignToken)).status).toBe(401);
  expect((await post([document('b')], await createToken('crawl:read'))).status).toBe(403);
  expect(Object.keys(await read())).toEqual(['a']);
});

test('CRAWL-56 accepts documents of the connectors that the token is limited to, and no others', async () => {
  const bound = await createToken('crawl:work', { connectors: ['wiki_1'] });
  expect((await post([document('a')], bound)).status).toBe(200);
  const refused = await post([document('b'), document('c', { connector: 'files_1' })], bound);
  expect(refused.status).toBe(403);
  expect((await post([document('d')], await createToken('crawl:work', { connectors: [] }))).status).toBe(403);
  // Other bounds limit nothing here.
  expect((await post([document('e')], await createToken('crawl:work', { tools: [] }))).status).toBe(200);
  expect(Object.keys(await read()).toSorted()).toEqual(['a', 'e']);
});

test('is busy with four batches at once, and says when to repeat the others', async () => {
  const unlock = await knowledge.lock('documents');
  const waiting = Array.from({ length: 4 }, (_, index) => post([document(`w${index}`)]));
  await waitFor(async () => (await knowledge.countWaiting()) === 4, { what: 'four batches at the table' });
  const refused = await post([document('x')]);
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '1']);
  await unlock();
  expect((await Promise.all(waiting)).map(({ status }) => status)).toEqual([200, 200, 200, 200]);
});

test('answers 503 while the token cannot be verified, or the batch cannot be stored', async () => {
  await knowledge.query('alter table documents rename to elsewhere');
  const answer = await post([document('a')]);
  expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '1']);
  await knowledge.query('alter table elsewhere rename to documents');
  const other = await startKnowledge({ hasCrawls: false });
  await other.start();
  const unreachable = await fetch(new URL('/documents', other.url), {
    method: 'POST',
    headers: { authorization: `Bearer ${token}` },
    body: '',
  });
  expect(unreachable.status).toBe(503);
  await other.close();
});

describe('CRAWL-61 a document that is not for everyone', () => {
  const origin = { connector: 'wiki_1', instance: 'default' };
  const bring = (id: string, text: string, access: object[]) =>
    knowledge.documents.store([{ ...document(id, { text }), access } as Document]);
  const search = async (client: Client) => {
    const text = await callText(client, 'search', { query: 'wombat' });
    return [...text.matchAll(/\(wiki_1:(\w+)\)/g)].map(([, id = '']) => id).toSorted();
  };
  const board = [{ kind: 'group', id: 'Board' }];
  const everyone = [{ kind: 'everyone' }];
  let [inside, ada, outside]: Client[] = [];

  beforeAll(async () => {
    await knowledge.query('truncate documents; truncate pages cascade');
    [inside, ada, outside] = [
      await knowledge.connect({ org, groups: ['Staff', 'Board'] }),
      await knowledge.connect({ org, email: 'ada@example.com', groups_overage: true }),
      await knowledge.connect({ org, groups: ['board', 'Board '], email: 'eve@example.com' }),
    ];
    await bring('open', 'The wombat is public.', everyone);
    await bring('closed', 'The wombat is secret.', board);
    await bring('personal', 'The wombat is hers.', [{ kind: 'user', id: 'Ada@Example.com' }]);
    await bring('nobody', 'The wombat is hidden.', []);
    await knowledge.index(origin);
  });

  test('is found and read by its groups and addresses alone', async () => {
    expect(await search(inside as Client)).toEqual(['closed', 'open']);
    expect(await search(ada as Client)).toEqual(['open', 'personal']);
    expect(await search(outside as Client)).toEqual(['open']);
    const readPage = (path: string) => callText(outside as Client, 'read_page', { path: `wiki_1:${path}` });
    const absent = await readPage('none');
    for (const path of ['closed', 'personal', 'nobody']) expect(await readPage(path)).toBe(absent);
    expect(await callText(inside as Client, 'read_page', { path: 'wiki_1:closed' })).toContain('secret');
  });

  test('leaves no trace for others: not in the number of results, nor in their order', async () => {
    const ask = () => callText(outside as Client, 'search', { query: 'public quoll', limit: 1 });
    await bring('quoll', 'Quolls are public.', everyone);
    await knowledge.index(origin);
    const before = await ask();
    for (let index = 0; index < 30; index += 1)
      await bring(`more${index}`, 'A public quoll, public quoll.', board);
    await knowledge.index(origin);
    expect(await ask()).toBe(before);
  });

  test('is withdrawn as soon as another list is brought, and comes back for others when it is indexed', async () => {
    await bring('closed', 'The wombat is secret.', [{ kind: 'group', id: 'Staff' }, ...board]);
    expect(await search(inside as Client)).toContain('closed');
    await bring('open', 'The wombat is public.', board);
    expect(await search(inside as Client)).toContain('open');
    expect(await search(outside as Client)).toEqual([]);
    // The new text may be for everyone, but the old one was not.
    await bring('closed', 'The wombat was redacted.', everyone);
    expect(await search(outside as Client)).toEqual([]);
    await bring('personal', 'The wombat is hers.', [{ kind: 'user', id: 'eve@example.com' }]);
    for (const client of [ada, outside]) expect(await search(client as Client)).not.toContain('personal');
    await knowledge.index(origin);
    expect(await search(outside as Client)).toEqual(['closed', 'personal']);
    expect(await search(ada as Client)).toEqual(['closed']);
  });

  test('that says its access separately is for nobody, until a line names somebody', async () => {
    const isFound = async (client: Client | undefined) => (await search(client as Client)).includes('shared');
    const about = (access: unknown) => ({ ...origin, id: 'shared', accessOnly: true, access });
    const shared = document('shared', { title: 'x', text: 'The wombat is shared.', access: 'separate' });
    expect((await post([shared, about(board), { ...about(board), id: 'unknown' }])).status).toBe(200);
    await knowledge.index(origin);
    expect([await isFound(inside), await isFound(outside)]).toEqual([true, false]);
    // Bringing it again keeps who may find it, whatever else a batch says.
    const again = document('shared', { title: 'x', text: 'The wombat was shared.', access: 'separate' });
    await post([
      { ...origin, id: 'shared', seen: true, fullCrawl: '2026-01-02T00:00:00.000Z' },
      again,
      again,
    ]);
    await knowledge.index(origin);
    expect([await isFound(inside), await isFound(outside)]).toEqual([true, false]);
    await post([about(everyone)]);
    await knowledge.index(origin);
    expect([await isFound(inside), await isFound(outside)]).toEqual([true, true]);
    // What is taken away is gone at once.
    await post([about([])]);
    expect([await isFound(inside), await isFound(outside)]).toEqual([false, false]);
    await post([document('new', { text: 'The wombat is new.', access: 'separate' })]);
    await knowledge.index(origin);
    for (const client of [inside, ada, outside]) expect(await search(client as Client)).not.toContain('new');
  });
});
