import { appendFile, mkdir, rename, rm, symlink, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Client } from '@modelcontextprotocol/client';
import { waitFor } from '@platform/testing';
import { callText, startKnowledge } from './knowledge.js';

let knowledge: Awaited<ReturnType<typeof startKnowledge>>;
let client: Client;

const write = async (path: string, text: string): Promise<void> => {
  await mkdir(join(knowledge.folder, path, '..'), { recursive: true });
  await writeFile(join(knowledge.folder, path), text);
};
const search = (query: string, limit?: number) =>
  callText(client, 'search', { query, ...(limit && { limit }) });
const waitUntilFound = (query: string, expected: string) =>
  waitFor(async () => (await search(query)).includes(expected), { what: `${expected} for ${query}` });
const NOTHING = 'Nothing was found.';

beforeAll(async () => {
  knowledge = await startKnowledge();
  await write('cats.md', '# Cats\nCats purr.\n\n## Food\nThey eat mackerel on Fridays.');
  await write('deep/er/dogs.md', '# Dogs\nDogs bark, and chase cats.');
  await write('notes.txt', '# Notes\nunsearchable');
  await write('.git/config.md', 'unsearchable');
  await write('node_modules/a/README.md', 'unsearchable');
  await writeFile(join(knowledge.parent, 'secret.md'), 'unsearchable password');
  await mkdir(join(knowledge.parent, 'outside'));
  await writeFile(join(knowledge.parent, 'outside/secret.md'), 'unsearchable password');
  await symlink(join(knowledge.parent, 'secret.md'), join(knowledge.folder, 'link.md'));
  await symlink(join(knowledge.parent, 'outside'), join(knowledge.folder, 'linked'));
  await write('large.md', `unsearchable ${'a'.repeat(1_100_000)}`);
  await knowledge.start();
});
beforeEach(async () => {
  client = await knowledge.connect();
});
afterAll(() => knowledge.close());

test('finds sections by their words, whole matches first, headings before text', async () => {
  expect(await search('mackerels')).toBe('- Cats › Food (cats.md)\n  They eat mackerel on Fridays');
  expect((await search('cat')).split('\n').filter((line) => line.startsWith('-'))).toEqual([
    '- Cats (cats.md)',
    '- Dogs (deep/er/dogs.md)',
  ]);
  // A question with words that no page has still finds the best sections.
  expect(await search('why do dogs bark at the moon')).toMatch(/^- Dogs \(deep\/er\/dogs\.md\)/);
  expect(await search('"chase cats"')).toMatch(/^- Dogs/);
  expect(await search('cats -bark')).not.toContain('Dogs');
  expect(await search('cat', 1)).not.toContain('Dogs');
});

test.each([' ', '"', '-', '!|&()<->:*', "'", '\\', '%', 'the', '\u{1F600}'])(
  'answers the query %j without an error',
  async (query) => {
    const result = await client.callTool({ name: 'search', arguments: { query } });
    expect(result.isError).toBeFalsy();
  },
);

test('indexes only Markdown, and follows no symbolic link', async () => {
  expect(await search('unsearchable')).toBe(NOTHING);
  expect(await search('password')).toBe(NOTHING);
  expect(await callText(client, 'read_page', { path: '../secret.md' })).toContain('There is no such page');
  expect(knowledge.logged.join()).toContain('large.md');
});

test('reads a page in parts', async () => {
  await write('long.md', `# Long\n${'word '.repeat(3_000)}omega`);
  await waitUntilFound('omega', 'Long');
  const first = await callText(client, 'read_page', { path: 'long.md' });
  const [, offset] = /\[\d+ more characters: offset (\d+)\]$/.exec(first) ?? [];
  expect(offset).toBe('8000');
  const rest = await callText(client, 'read_page', { path: 'long.md', offset: 8_000 });
  expect(rest).toMatch(/omega$/);
  expect(await callText(client, 'read_page', { path: 'long.md', offset: 90_000 })).toBe('');
});

test('searches reflect new, changed, renamed and deleted files', async () => {
  await write('new.md', 'The zebra is new.');
  await waitUntilFound('zebra', 'new.md');
  await appendFile(join(knowledge.folder, 'new.md'), ' It met an okapi.');
  await waitUntilFound('okapi', 'new.md');
  // A change that keeps size and modification time.
  await write('new.md', 'The tapir is new. It met an okapi.');
  await utimes(join(knowledge.folder, 'new.md'), 0, 0);
  await waitUntilFound('tapir', 'new.md');
  expect(await search('zebra')).toBe(NOTHING);
  await rename(join(knowledge.folder, 'new.md'), join(knowledge.folder, 'renamed.md'));
  await waitUntilFound('tapir', 'renamed.md');
  expect(await search('tapir')).not.toContain('new.md');
  await rm(join(knowledge.folder, 'renamed.md'));
  await waitFor(async () => (await search('tapir')) === NOTHING, { what: 'the page to be gone' });
});

test('a file that becomes a symbolic link is no longer searchable', async () => {
  await write('swap.md', 'The walrus was here.');
  await waitUntilFound('walrus', 'swap.md');
  await rm(join(knowledge.folder, 'swap.md'));
  await symlink(join(knowledge.parent, 'secret.md'), join(knowledge.folder, 'swap.md'));
  await waitFor(async () => (await search('walrus')) === NOTHING, { what: 'the page to be gone' });
  expect(await search('password')).toBe(NOTHING);
});

test('a note is found at once, added once, and kept apart from the files', async () => {
  const note = { title: 'Lunch', text: 'The canteen serves zucchini.' };
  const added = await callText(client, 'add_note', note);
  expect(added).toMatch(/^Added as note:[0-9a-f]{16}\.$/);
  expect(await callText(client, 'add_note', note)).toBe(added);
  expect(await search('zucchini')).toMatch(/^- Lunch \(note:[0-9a-f]{16}\)\n {2}canteen serves zucchini$/);
});

test('keeps the index over a restart, and reads only changed files', async () => {
  await knowledge.stop();
  await write('cats.md', '# Cats\nCats meow now.');
  await knowledge.start();
  client = await knowledge.connect();
  expect(await search('meow')).toContain('cats.md');
  expect(await search('mackerel')).toBe(NOTHING);
  expect(await search('bark')).toContain('dogs.md');
  expect(await search('zucchini')).toContain('note:');
});

test('keeps the index while the folder is unavailable', async () => {
  await rename(knowledge.folder, `${knowledge.folder}-away`);
  await waitFor(() => knowledge.logged.some((line) => line.includes("can't be indexed")), {
    what: 'the fault in the log',
  });
  expect(await search('bark')).toContain('dogs.md');
  await rename(`${knowledge.folder}-away`, knowledge.folder);
});
