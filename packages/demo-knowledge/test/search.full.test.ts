import type { Client } from '@modelcontextprotocol/client';
import type { Document } from '@platform/crawl-worker/documents';
import { waitFor } from '@platform/testing';
import { callText, type Origin, startKnowledge } from './knowledge.js';

/* The index follows the sync events of real runs, which the tests crawl themselves. */

let knowledge: Awaited<ReturnType<typeof startKnowledge>>;
let client: Client;
let firstRun: string;

const search = (query: string, limit?: number) =>
  callText(client, 'search', { query, ...(limit && { limit }) });
const waitUntilFound = (query: string, expected: string) =>
  waitFor(async () => (await search(query)).includes(expected), { what: `${expected} for ${query}` });
const toDocument = (origin: Origin, id: string, text: string): Document => ({
  ...origin,
  id,
  title: id,
  text,
  mimeType: 'text/markdown',
  access: [{ kind: 'everyone' }],
});
const NOTHING = 'Nothing was found.';
const toLink = (runId: string) => `Crawled by https://platform.example.com/knowledge/files_1?run=${runId}`;

beforeAll(async () => {
  knowledge = await startKnowledge();
  await knowledge.start();
  client = await knowledge.connect();
  firstRun = await knowledge.bring(
    {
      'cats.md': '# Cats\nCats purr.\n\n## Food\nThey eat mackerel on Fridays.',
      'deep/er/dogs.md': '# Dogs\nDogs bark, and chase cats.',
      'fish.txt': '# no heading\nFish swim\0.',
    },
    'full',
  );
  await waitUntilFound('bark', 'dogs.md');
});
beforeEach(async () => {
  client = await knowledge.connect();
});
afterAll(() => knowledge.close());

test('finds sections by their words, headings before titles and these before text, and names the run', async () => {
  expect(await search('mackerels')).toBe(
    `- Cats › Food (cats.md)\n  They eat mackerel on Fridays\n\n${toLink(firstRun)}`,
  );
  expect((await search('cat')).split('\n').filter((line) => line.startsWith('-'))).toEqual([
    '- Cats (cats.md)',
    '- Cats › Food (cats.md)',
    '- Dogs (deep/er/dogs.md)',
  ]);
  // A question with words that no page has still finds the best sections.
  expect(await search('why do dogs bark at the moon')).toMatch(/^- Dogs \(deep\/er\/dogs\.md\)/);
  expect(await search('"chase cats"')).toMatch(/^- Dogs/);
  expect(await search('cats -bark')).not.toContain('Dogs');
  expect(await search('cat', 1)).not.toContain('Dogs');
});

test('CRAWL-63 guides come before code, and short passages before long ones', async () => {
  await knowledge.bring({
    'beasts.txt': `// gnu\n${'gnu '.repeat(20)}`,
    'long.md': `# Animals\nThe gnu ${'and another animal '.repeat(200)}`,
    'short.md': '# Beasts\nThe gnu grazes.',
    'asks.md': '# How to feed a gnu\nWith grass.',
  });
  await waitUntilFound('gnu', 'asks.md');
  expect([...(await search('how to feed a gnu')).matchAll(/\((.*)\)$/gm)].map(([, path]) => path)).toEqual([
    'asks.md',
    'short.md',
    'long.md',
    'beasts.txt',
  ]);
});

test('reads text as it is written', async () => {
  expect(await search('swim')).toContain('- fish.txt (fish.txt)');
});

test.each([' ', '"', '-', '!|&()<->:*', "'", '\\', '%', 'the', '\u{1F600}'])(
  'answers the query %j without an error',
  async (query) => {
    const result = await client.callTool({ name: 'search', arguments: { query } });
    expect(result.isError).toBeFalsy();
  },
);

test('reads a page in parts', async () => {
  await knowledge.bring({ 'long.md': `# Long\n${'word '.repeat(3_000)}omega` });
  await waitUntilFound('omega', 'Long');
  const first = await callText(client, 'read_page', { path: 'long.md' });
  const [, offset] = /\[\d+ more characters: offset (\d+)\]/.exec(first) ?? [];
  expect(offset).toBe('8000');
  const rest = await callText(client, 'read_page', { path: 'long.md', offset: 8_000 });
  expect(rest).toMatch(/omega\n\nCrawled by \S+$/);
  expect(await callText(client, 'read_page', { path: 'long.md', offset: 90_000 })).toMatch(/^\n\nCrawled/);
  expect(await callText(client, 'read_page', { path: '../secret.md' })).toContain('There is no such page');
});

test('what is brought is found after the event of its run, and what is gone is not', async () => {
  const run = await knowledge.crawl('incremental', async (origin) => {
    await knowledge.documents.store([toDocument(origin, 'new.md', 'The zebra is new.')]);
    expect(await search('zebra')).toBe(NOTHING);
  });
  await waitUntilFound('zebra', 'new.md');
  expect(await search('zebra')).toContain(toLink(run));
  await knowledge.bring({ 'new.md': 'The okapi is new.' });
  await waitUntilFound('okapi', 'new.md');
  expect(await search('zebra')).toBe(NOTHING);
  await knowledge.crawl('incremental', (origin) =>
    knowledge.documents.store([{ ...origin, id: 'new.md', deleted: true }]),
  );
  await waitFor(async () => (await search('okapi')) === NOTHING, { what: 'the page to be gone' });
  expect((await knowledge.query("select 1 from documents where id = 'new.md'")).rows).toEqual([]);
});

test('a full crawl drops what it has not seen, and keeps what has not changed', async () => {
  await knowledge.bring({ 'old.md': 'The dodo is old.' });
  await waitUntilFound('dodo', 'old.md');
  const ids = ['cats.md', 'deep/er/dogs.md', 'fish.txt'];
  await knowledge.crawl('full', (origin) =>
    knowledge.documents.store([
      ...ids.map((id) => ({ ...origin, id, seen: true as const })),
      { ...origin, complete: true },
    ]),
  );
  await waitFor(async () => (await search('dodo')) === NOTHING, { what: 'the page to be gone' });
  expect(await search('mackerel')).toContain(toLink(firstRun));
});

test('a note is found at once, added once, and kept apart from the pages', async () => {
  const note = { title: 'Lunch', text: 'The canteen serves zucchini.' };
  const added = await callText(client, 'add_note', note);
  expect(added).toMatch(/^Added as note:[0-9a-f]{16}\.$/);
  expect(await callText(client, 'add_note', note)).toBe(added);
  expect(await search('zucchini')).toMatch(/^- Lunch \(note:[0-9a-f]{16}\)\n {2}canteen serves zucchini$/);
});

test('goes on after a restart where it was', async () => {
  await knowledge.stop();
  await knowledge.bring({ 'cats.md': '# Cats\nCats meow now.' });
  await knowledge.start();
  client = await knowledge.connect();
  await waitUntilFound('meow', 'cats.md');
  expect(await search('mackerel')).toBe(NOTHING);
  expect(await search('bark')).toContain('dogs.md');
  expect(await search('zucchini')).toContain('note:');
});

test('starts over, and says so, when events were deleted before they were read', async () => {
  await knowledge.stop();
  // Another connector's event is gone for good; a cursor of another epoch stands for deleted events.
  const origin = {
    connector: 'wiki_1',
    instance: 'default',
    runId: firstRun,
    fullCrawl: new Date().toISOString(),
  };
  await knowledge.documents.store([toDocument(origin, 'quokka.md', 'Quokkas smile.')]);
  const { rows } = await knowledge.query('select cursor from feed_position');
  const place = Buffer.from(rows[0].cursor as string, 'base64url').toString();
  const gone = place.replace(/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/, crypto.randomUUID());
  await knowledge.query('update feed_position set cursor = $1', [Buffer.from(gone).toString('base64url')]);
  await knowledge.start();
  client = await knowledge.connect();
  await waitUntilFound('smile', 'wiki_1:quokka.md');
  expect(knowledge.lines.filter((line) => line.includes('events were deleted'))).toHaveLength(1);
  await knowledge.bring({ 'after.md': 'The feed continues with axolotls.' });
  await waitUntilFound('axolotls', 'after.md');
});
