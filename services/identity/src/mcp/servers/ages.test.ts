import type { CrawlAge } from '../../facts/crawl-ages.js';
import { AGES_META_KEY, withAges } from './ages.js';

/** A Saturday. */
const NOW = Date.parse('2026-11-28T12:00:00Z');
const at = (text: string) => new Date(`2026-11-${text}Z`);
const age = (given: Partial<CrawlAge> = {}): CrawlAge => ({
  connector: 'code_1',
  instance: 'default',
  completedAt: at('28T11:00:00'),
  failingSince: null,
  nextRunAt: at('28T13:00:00'),
  pausedAt: null,
  removedAt: null,
  fullAt: null,
  source: null,
  ...given,
});
const result = {
  content: '[{"type":"text","text":"found 1.0"}]',
  isError: false,
  meta: new Map([['own/a', '1.0']]),
};

function read(ages: readonly CrawlAge[], connectors = ['code_1'], given = result) {
  const { content, meta } = withAges(given, connectors, ages, NOW);
  const described = JSON.parse(meta.get(AGES_META_KEY) ?? '[]') as { state: string }[];
  const words = content.slice(given.content.length - 1).replace(/^,/, '');
  return {
    states: described.map(({ state }) => state),
    described,
    words: words === ']' ? '' : (JSON.parse(`[${words}`) as { text: string }[])[0]?.text,
  };
}

test('MCP-42 says in _meta when each connector was last crawled, and keeps everything else as it is', () => {
  const passed = withAges(result, ['code_1'], [age()], NOW);
  expect(passed.content).toBe(result.content);
  expect([...passed.meta.keys()]).toEqual(['own/a', AGES_META_KEY]);
  expect(passed.meta.get('own/a')).toBe('1.0');
  expect(read([age()]).described).toEqual([
    {
      connector: 'code_1',
      instance: 'default',
      state: 'fresh',
      lastCompletedAt: '2026-11-28T11:00:00.000Z',
      nextRunAt: '2026-11-28T13:00:00.000Z',
    },
  ]);
});

test.each<[string, string, string, Partial<CrawlAge>]>([
  ['is due', 'fresh', '', { nextRunAt: at('28T11:55:00') }],
  [
    'is late by less than its period',
    'fresh',
    '',
    { completedAt: at('28T02:00:00'), nextRunAt: at('28T10:00:00') },
  ],
  [
    'is late by more than its period',
    'late',
    'code_1 was last crawled 3 hours ago; the next crawl was due 2 hours ago.',
    { completedAt: at('28T08:30:00'), nextRunAt: at('28T09:30:00') },
  ],
  [
    'fails',
    'failing',
    'code_1 was last crawled 3 days ago; crawls fail since Wednesday.',
    { completedAt: at('25T02:00:00'), failingSince: at('25T14:00:00') },
  ],
  [
    'has failed for long',
    'failing',
    'code_1 was last crawled 27 days ago; crawls fail since 2 November 2026.',
    { completedAt: at('01T02:00:00'), failingSince: at('02T02:00:00') },
  ],
  ['was never crawled', 'late', 'code_1 has not been crawled yet.', { completedAt: null, nextRunAt: null }],
  [
    'was never crawled and fails',
    'failing',
    'code_1 has not been crawled yet; crawls fail since Saturday.',
    { completedAt: null, failingSince: at('28T02:00:00') },
  ],
  ['is paused', 'paused', '', { pausedAt: at('28T02:00:00'), failingSince: at('27T02:00:00') }],
  ['has no next run', 'fresh', '', { completedAt: at('01T02:00:00'), nextRunAt: null }],
  [
    'is not scheduled any more',
    'unscheduled',
    'code_1 was last crawled 27 days ago; its schedule was removed.',
    { completedAt: at('01T02:00:00'), nextRunAt: null, removedAt: at('02T02:00:00') },
  ],
])('MCP-42 a connector that %s is %s: %s', (_what, state, words, given) => {
  expect(read([age(given)])).toMatchObject({ states: [state], words });
});

test('MCP-42 names each instance, and connectors of which nothing is known', () => {
  const late = { nextRunAt: at('27T02:00:00'), completedAt: at('26T02:00:00') };
  const { states, words } = read(
    [age({ instance: 'eu' }), age({ instance: 'us', ...late })],
    ['code_1', 'wiki_1'],
  );
  expect(states).toEqual(['fresh', 'late', 'late']);
  expect(words).toBe(
    'code_1 (us) was last crawled 2 days ago; the next crawl was due 34 hours ago. wiki_1 has not been crawled yet.',
  );
});

test('MCP-42 adds the words to an empty content, and to no error', () => {
  const empty = withAges({ ...result, content: ' [ ] ' }, ['wiki_1'], [], NOW);
  expect(JSON.parse(empty.content)).toEqual([{ type: 'text', text: 'wiki_1 has not been crawled yet.' }]);
  const failed = withAges({ ...result, isError: true }, ['wiki_1'], [], NOW);
  expect([failed.content, failed.meta.has(AGES_META_KEY)]).toEqual([result.content, true]);
});
