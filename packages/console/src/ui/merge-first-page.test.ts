import { mergeFirstPage } from './merge-first-page.js';

const page = (next: string | undefined, ...items: string[]) => ({ items, next });
const open = (...pages: ReturnType<typeof page>[]) => ({
  pages,
  pageParams: [undefined, ...pages.map(({ next }) => next)].slice(0, pages.length),
});
const merge = (opened: ReturnType<typeof open>, first: ReturnType<typeof page>) =>
  mergeFirstPage(opened, first, (id) => id);

const opened = open(page('c', 'a', 'b', 'c'), page('f', 'd', 'e', 'f'), page('i', 'g', 'h', 'i'));

test('new rows push the old ones down', () => {
  expect(merge(opened, page('a', 'x', 'y', 'a'))).toEqual({
    pages: [page('c', 'x', 'y', 'a', 'b', 'c'), page('f', 'd', 'e', 'f'), page('i', 'g', 'h', 'i')],
    pageParams: [undefined, 'c', 'f'],
  });
});

test('a removed row is gone, and the pages still meet', () => {
  expect(merge(opened, page('d', 'a', 'c', 'd'))).toEqual({
    pages: [page('f', 'a', 'c', 'd', 'e', 'f'), page('i', 'g', 'h', 'i')],
    pageParams: [undefined, 'f'],
  });
});

test('a row that has moved to the front is shown once', () => {
  const merged = merge(opened, page('b', 'h', 'a', 'b'));
  expect(merged?.pages.flatMap(({ items }) => items)).toEqual(['h', 'a', 'b', 'c', 'd', 'e', 'f', 'g', 'i']);
});

test('a list that has become one page holds nothing else', () => {
  expect(merge(opened, page(undefined, 'a'))).toEqual(open(page(undefined, 'a')));
});

test('pages that no longer meet, or have grown too long, are read again', () => {
  expect(merge(opened, page('z', 'x', 'y', 'z'))).toBeUndefined();
  const grown = open(page('f', 'a', 'b', 'c', 'd', 'e', 'f'), page('g', 'g'));
  expect(merge(grown, page('a', 'x', 'y', 'a'))).toBeUndefined();
});
