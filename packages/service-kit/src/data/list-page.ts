import { type TSchema, Type } from 'typebox';
import { type Page, PageQuery, type PageWindow, pageWindow, Pagination, toPagination } from './pagination.js';

/** The query of a list of rows with UUIDv7 ids, newest first: a page by its number, or the page after a cursor. */
export const ListQuery = Type.Object(
  {
    ...PageQuery.properties,
    cursor: Type.Optional(
      Type.String({
        format: 'uuid',
        description: 'The `nextCursor` of the page before. `page` is not used then.',
      }),
    ),
  },
  { additionalProperties: false },
);
export type ListQuery = Type.Static<typeof ListQuery>;

/** The query of a list that can be searched. */
export const SearchQuery = Type.Object(
  {
    ...ListQuery.properties,
    q: Type.Optional(
      Type.String({ minLength: 1, maxLength: 100, description: 'Part of the name, in any case.' }),
    ),
  },
  { additionalProperties: false },
);
export type SearchQuery = Type.Static<typeof SearchQuery>;

/** The same query of a list in which more than the name is searched. */
export const searchBy = (description: string) =>
  Type.Object(
    {
      ...SearchQuery.properties,
      q: Type.Optional(Type.Unsafe<string>({ ...SearchQuery.properties.q, description })),
    },
    { additionalProperties: false },
  );

export const NextCursor = Type.Union([Type.String({ format: 'uuid' }), Type.Null()], {
  description: 'Pass it as `cursor` to read the next page; null when there is none.',
});

export interface ListPage<T> extends Page<T> {
  readonly nextCursor: string | null;
}

/** Older replicas answer without a cursor, and clients that validate answers have to accept those during an upgrade. */
export const ListPageOf = <T extends TSchema>(item: T) =>
  Type.Object({ data: Type.Array(item), pagination: Pagination, nextCursor: Type.Optional(NextCursor) });

/** The rows to read: a window of the whole list, or of its part before an id. */
export interface ListWindow extends PageWindow {
  /** The id in lower case; undefined for the whole list. */
  readonly beforeId: string | undefined;
}

interface ListReader<Row, Item> {
  count(): Promise<number>;
  /**
   * The highest number that `count` answers, for a list that keeps no counter: a longer one is paged by number up to
   * there, and by cursor to its end. Undefined: `count` is exact.
   */
  readonly maxCount?: number;
  /** Finds the rows of the window, newest first. */
  find(window: ListWindow): Promise<Row[]>;
  toItem(row: Row): Item;
}

/** Reads a page of a list. From a cursor, every page costs the same, and rows that come or go don't move the others. */
export async function readListPage<Row extends { readonly id: string }, Item>(
  query: ListQuery,
  { count, maxCount = Infinity, find, toItem }: ListReader<Row, Item>,
): Promise<ListPage<Item>> {
  const total = await count();
  const { rows, hasMore } = await readRows(query, { total, isExact: total < maxCount }, find);
  return {
    data: rows.map(toItem),
    pagination: toPagination(query, total, { isMinimum: total >= maxCount }),
    nextCursor: hasMore ? (rows.at(-1)?.id ?? null) : null,
  };
}

async function readRows<Row>(
  query: ListQuery,
  { total, isExact }: { readonly total: number; readonly isExact: boolean },
  find: ListReader<Row, unknown>['find'],
) {
  const { page, limit, cursor } = query;
  if (cursor !== undefined) return findAhead({ offset: 0, limit, beforeId: cursor.toLowerCase() }, find);
  const window = pageWindow(query, total);
  if (window && !isExact) return findAhead({ offset: (page - 1) * limit, limit, beforeId: undefined }, find);
  const rows = window ? await find({ ...window, beforeId: undefined }) : [];
  return { rows, hasMore: page * limit < total };
}

/** Reads one row more than the page has, which shows whether there is a next page. */
async function findAhead<Row>(
  { offset, limit, beforeId }: { offset: number; limit: number; beforeId: string | undefined },
  find: ListReader<Row, unknown>['find'],
) {
  const found = await find({ isFromEnd: false, offset, count: limit + 1, beforeId });
  return { rows: found.slice(0, limit), hasMore: found.length > limit };
}
