import { type TSchema, Type } from 'typebox';

/** Query parameters of a page: `page` starts at 1, `limit` is 1 to 100 and by default 20. */
export const PageQuery = Type.Object(
  {
    page: Type.Integer({ minimum: 1, maximum: 1_000_000_000, default: 1 }),
    limit: Type.Integer({ minimum: 1, maximum: 100, default: 20 }),
  },
  { additionalProperties: false },
);
export type PageQuery = Type.Static<typeof PageQuery>;

export const Pagination = Type.Object({
  page: Type.Integer(),
  limit: Type.Integer(),
  total: Type.Integer(),
  totalPages: Type.Integer(),
  totalIsMinimum: Type.Optional(
    Type.Boolean({
      description: 'True when there may be more than `total`: a search counts only among the newest.',
    }),
  ),
});
export type Pagination = Type.Static<typeof Pagination>;

export interface Page<T> {
  readonly data: T[];
  readonly pagination: Pagination;
}

export const PageOf = <T extends TSchema>(item: T) =>
  Type.Object({ data: Type.Array(item), pagination: Pagination });

/** The rows of an ordered index that make up a page, counted from the nearer end. */
export interface PageWindow {
  /** Whether to read from the other end of the order and then reverse the rows. */
  readonly isFromEnd: boolean;
  readonly offset: number;
  readonly count: number;
}

/**
 * Computes the window of a page. Its offset counts from the nearer end, so that the last page of a long list costs as
 * little as the first.
 *
 * @returns undefined for a page past the end.
 */
export function pageWindow({ page, limit }: PageQuery, total: number): PageWindow | undefined {
  const first = (page - 1) * limit;
  if (first >= total) return undefined;
  const count = Math.min(limit, total - first);
  const behind = total - first - count;
  return behind < first
    ? { isFromEnd: true, offset: behind, count }
    : { isFromEnd: false, offset: first, count };
}

export const toPagination = (
  { page, limit }: PageQuery,
  total: number,
  { isMinimum = false }: { readonly isMinimum?: boolean } = {},
): Pagination => ({
  page,
  limit,
  total,
  totalPages: Math.ceil(total / limit),
  ...(isMinimum && { totalIsMinimum: true }),
});
