import { pageOf } from './page.js';

const items = ['e', 'd', 'c', 'b', 'a'];
const keyOf = (item: string) => item;

test('pages follow one another, and what goes meanwhile hides nothing', () => {
  const first = pageOf(items, keyOf, { limit: 2 });
  expect(first.page).toEqual(['e', 'd']);
  const cursor = first.nextCursor ?? '';
  expect(pageOf(items, keyOf, { limit: 2, cursor }).page).toEqual(['c', 'b']);
  expect(pageOf(['f', 'e', 'c', 'b'], keyOf, { limit: 2, cursor })).toEqual({
    page: ['c', 'b'],
    nextCursor: null,
  });
});

test.each(['', '%', 'ZZ', 'a\u0000', 'é', 'Z'.repeat(199)])('%j is no cursor', (cursor) => {
  expect(() => pageOf(items, keyOf, { limit: 2, cursor })).toThrow('Invalid arguments');
});
