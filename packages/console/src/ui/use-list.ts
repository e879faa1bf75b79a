import { type QueryKey, useInfiniteQuery } from '@tanstack/react-query';
import type { MoreRows } from './data-table.tsx';

export interface ListPage<Item> {
  readonly items: readonly Item[];
  /** Undefined on the last page. */
  readonly next: string | undefined;
}

interface ListOptions<Page> {
  readonly key: QueryKey;
  /** How often the first page is read again, in ms; default: not by itself. */
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

interface NumberedPage<Item> {
  readonly data: readonly Item[];
  readonly pagination: { readonly page: number; readonly totalPages: number };
}

/** The same for an API that numbers its pages. */
export const useNumberedList = <Item>({
  load,
  ...options
}: Omit<ListOptions<unknown>, 'load'> & {
  load(page: number, signal: AbortSignal): Promise<NumberedPage<Item>>;
}) =>
  useList({
    ...options,
    async load(cursor, signal) {
      const { data, pagination } = await load(Number(cursor ?? 1), signal);
      const hasMore = pagination.page < pagination.totalPages;
      return { items: data, next: hasMore ? String(pagination.page + 1) : undefined };
    },
  });
