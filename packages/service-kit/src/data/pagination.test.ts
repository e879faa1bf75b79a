import { pageWindow, toPagination } from './pagination.js';

/** Reads a window the way the queries do. */
function read(rows: readonly number[], window: ReturnType<typeof pageWindow>): number[] {
  if (!window) return [];
  const { isFromEnd, offset, count } = window;
  const page = (isFromEnd ? rows.toReversed() : rows).slice(offset, offset + count);
  return isFromEnd ? page.toReversed() : page;
}

test('whatever the total and the limit, the pages together are all rows, in order, each once', () => {
  for (let total = 0; total <= 45; total += 1) {
    const rows = Array.from({ length: total }, (_, index) => index);
    for (const limit of [1, 2, 3, 7, 10, 44, 45, 46, 100]) {
      const { totalPages } = toPagination({ page: 1, limit }, total);
      const pages = Array.from({ length: totalPages }, (_, index) =>
        read(rows, pageWindow({ page: index + 1, limit }, total)),
      );
      expect(pages.flat()).toEqual(rows);
      expect(pageWindow({ page: totalPages + 1, limit }, total)).toBeUndefined();
    }
  }
});

test('no page is further than half of the rows from the end it is read from', () => {
  for (let page = 1; page <= 5_000; page += 1) {
    const window = pageWindow({ page, limit: 20 }, 99_991);
    expect(window?.offset).toBeLessThanOrEqual(50_000);
  }
  expect(pageWindow({ page: 5_000, limit: 20 }, 99_991)).toEqual({ isFromEnd: true, offset: 0, count: 11 });
});

test('a page number beyond all bounds is past the end', () => {
  expect(pageWindow({ page: 1_000_000_000, limit: 100 }, 99)).toBeUndefined();
});
