import { type ListQuery, type ListWindow, readListPage } from './list-page.js';

interface Row {
  readonly id: string;
}
const toRow = (index: number): Row => ({ id: `01900000-0000-7000-8000-${String(index).padStart(12, '0')}` });
let rows: Row[];

/** Reads a window as the queries do. */
async function find({ isFromEnd, offset, count, beforeId }: ListWindow): Promise<Row[]> {
  const list = rows.filter(({ id }) => beforeId === undefined || id < beforeId);
  const page = (isFromEnd ? list : list.toReversed()).slice(offset, offset + count);
  return isFromEnd ? page.toReversed() : page;
}
const read = (query: Partial<ListQuery>) =>
  readListPage(
    { page: 1, limit: 2, ...query },
    { count: async () => rows.length, find, toItem: ({ id }) => Number(id.slice(-12)) },
  );

async function readAll(limit: number, between: () => void = () => undefined): Promise<number[]> {
  const found: number[] = [];
  for (let cursor: string | null | undefined; cursor !== null;) {
    const page = await read({ limit, ...(cursor !== undefined && { cursor: cursor.toUpperCase() }) });
    found.push(...page.data);
    expect(page.data.length > 0 || rows.length === 0).toBe(true);
    cursor = page.nextCursor;
    between();
  }
  return found;
}

beforeEach(() => {
  rows = [1, 2, 3, 4, 5, 6].map(toRow);
});

test('the cursors of a list lead through each row once, newest first, whatever the size of a page', async () => {
  for (const limit of [1, 2, 3, 5, 6, 7]) expect(await readAll(limit)).toEqual([6, 5, 4, 3, 2, 1]);
  rows = [];
  expect(await readAll(2)).toEqual([]);
});

test('rows that come or go between two pages neither repeat nor hide others', async () => {
  let next = 7;
  const found = await readAll(2, () => {
    rows = [...rows.filter(({ id }) => id !== toRow(5).id), toRow((next += 1))];
  });
  expect(found).toEqual([6, 5, 4, 3, 2, 1]);
});

test('a page by its number leads on by cursor, and a page past the end leads nowhere', async () => {
  const second = await read({ page: 2 });
  expect(second).toMatchObject({ data: [4, 3], pagination: { page: 2, total: 6 }, nextCursor: toRow(3).id });
  expect(await read({ page: 9, cursor: toRow(3).id })).toMatchObject({ data: [2, 1], nextCursor: null });
  expect(await read({ page: 9 })).toMatchObject({ data: [], nextCursor: null });
});

test('a list that is longer than what is counted is paged by number up to there, and by cursor to its end', async () => {
  const readCounted = (query: Partial<ListQuery>) =>
    readListPage(
      { page: 1, limit: 2, ...query },
      {
        count: async () => Math.min(rows.length, 3),
        maxCount: 3,
        find,
        toItem: ({ id }) => Number(id.slice(-12)),
      },
    );
  const second = await readCounted({ page: 2 });
  expect(second).toMatchObject({
    data: [4, 3],
    pagination: { total: 3, totalIsMinimum: true },
    nextCursor: toRow(3).id,
  });
  expect(await readCounted({ page: 3 })).toMatchObject({ data: [], nextCursor: null });
  expect(await readCounted({ cursor: toRow(3).id })).toMatchObject({ data: [2, 1], nextCursor: null });
  rows = rows.slice(0, 2);
  expect(await readCounted({})).toMatchObject({ data: [2, 1], pagination: { total: 2 }, nextCursor: null });
});
