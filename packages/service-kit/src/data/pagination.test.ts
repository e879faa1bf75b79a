import { pageWindow, toPagination } from './pagination.js';

/** Reads a window as the queries do. */
function read(rows: readonly number[], window: ReturnType<typeof pageWindow>): number[] {
  if (!window) return [];
  const { isFromEnd, offset, count } = window;
  const page = (isFromEnd ? rows.toReversed() : rows).slice(offset, offset + count);
  return isFromEnd ? page.toReversed() : page;
}

test('returns every row exactly once and in order across all pages, for any total and limit', () => {
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

test('reads every page from the nearer end', () => {
  for (let page = 1; page <= 5_000; page += 1) {
    const window = pageWindow({ page, limit: 20 }, 99_991);
    expect(window?.offset).toBeLessThanOrEqual(50_000);
  }
  expect(pageWindow({ page: 5_000, limit: 20 }, 99_991)).toEqual({ isFromEnd: true, offset: 0, count: 11 });
});

test('treats an enormous page number as past the end', () => {
  expect(pageWindow({ page: 1_000_000_000, limit: 100 }, 99)).toBeUndefined();
});
