import { type QueryKey, useInfiniteQuery } from '@tanstack/react-query';
import type { MoreRows } from './data-table.tsx';

export interface ListPage<Item> {
  readonly items: readonly Item[];
  /** Undefined on the last page. */
  readonly next: string | undefined;
}

const PAGE_SIZE = 50;

interface ListOptions<Page> {
  readonly key: QueryKey;
  /** The interval in ms at which the first page is read again; by default it is not. */
  readonly refreshMs?: number;
  load(cursor: string | undefined, signal: AbortSignal): Promise<Page>;
}

/** A list that is paged by cursor; what was filtered for is part of its key. */
export function useList<Page extends ListPage<unknown>>({ key, refreshMs, load }: ListOptions<Page>) {
  const query = useInfiniteQuery({
    queryKey: key,
    queryFn: ({ pageParam, signal }) => load(pageParam, signal),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => page.next,
    refetchInterval: refreshMs ?? false,
    placeholderData: (previous) => previous,
  });
  const more: MoreRows = {
    hasMore: query.hasNextPage,
    isLoading: query.isFetchingNextPage,
    load: () => void query.fetchNextPage(),
  };
  const pages = query.data?.pages;
  const items: readonly Page['items'][number][] | undefined = pages?.flatMap((page) => page.items);
  return { data: items, pages, error: query.error, isPending: query.isPending, refetch: query.refetch, more };
}

/** The query of a page: `cursor` only where there is one. */
export const toPageQuery = (cursor: string | undefined, limit = PAGE_SIZE) => ({
  limit,
  ...(cursor !== undefined && { cursor }),
});

export const toListPage = <Item>(page: {
  readonly data: readonly Item[];
  readonly nextCursor?: string | null;
}): ListPage<Item> => ({ items: page.data, next: page.nextCursor ?? undefined });
