import type { InfiniteData } from '@tanstack/react-query';

export interface ListPage<Item> {
  readonly items: readonly Item[];
  /** Undefined on the last page. */
  readonly next: string | undefined;
  /** How many there are on all pages; only the first page has to know. */
  readonly total?: ListTotal | undefined;
}

export interface ListTotal {
  readonly total: number;
  /** Whether there may be more. */
  readonly totalIsMinimum?: boolean;
}

/**
 * Puts the first page, read again, before the rest of the pages that are open. What the first page held before is kept
 * where new rows have pushed it down, and dropped where it is gone.
 *
 * @returns undefined when the pages must be read again, since they don't meet or the first one has become too long
 */
export function mergeFirstPage<Page extends ListPage<unknown>>(
  { pages, pageParams }: InfiniteData<Page>,
  first: Page,
  getId: (item: Page['items'][number]) => string,
): InfiniteData<Page> | undefined {
  const last = first.items.at(-1);
  if (first.next === undefined || last === undefined) return { pages: [first], pageParams: [undefined] };
  const lastId = getId(last);
  const at = pages.findIndex(({ items }) => items.some((item) => getId(item) === lastId));
  const met = pages[at];
  if (met === undefined) return undefined;

  const ids = new Set(first.items.map(getId));
  const isOld = (item: Page['items'][number]): boolean => !ids.has(getId(item));
  const below = met.items.slice(met.items.findIndex((item) => getId(item) === lastId) + 1);
  const items = [...first.items, ...below.filter(isOld)];
  if (items.length >= 2 * first.items.length) return undefined;
  return {
    pages: [
      { ...first, items, next: met.next },
      ...pages.slice(at + 1).map((page) => ({ ...page, items: page.items.filter(isOld) })),
    ],
    pageParams: [undefined, ...pageParams.slice(at + 1)],
  };
}
