import {
  type InfiniteData,
  type QueryKey,
  useInfiniteQuery,
  useQuery,
  useQueryClient,
} from '@tanstack/react-query';
import { useState } from 'react';
import { getRecoveryInterval } from '../api/queries.ts';
import type { MoreRows } from './data-table.tsx';
import { type ListPage, type ListTotal, mergeFirstPage } from './merge-first-page.ts';

/** The first page is there quickly; whoever asks for more wants many. */
const FIRST_PAGE_SIZE = 50;
const PAGE_SIZE = 100;

interface ListOptions<Page extends ListPage<unknown>> {
  readonly key: QueryKey;
  readonly refresh?: ListRefresh<Page['items'][number]>;
  load(cursor: string | undefined, signal: AbortSignal): Promise<Page>;
}

interface ListRefresh<Item> {
  /** The interval in ms at which the first page is read again, however many are open. */
  readonly everyMs: number;
  getId(item: Item): string;
}

/** A list that is paged by cursor; what was filtered for is part of its key. */
export function useList<Page extends ListPage<unknown>>({ key, refresh, load }: ListOptions<Page>) {
  const query = useInfiniteQuery({
    queryKey: key,
    queryFn: ({ pageParam, signal }) => loadFilled(load, pageParam, signal),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => page.next,
    refetchInterval: (one) => (!hasMorePages(one.state.data) && refresh?.everyMs) || getRecoveryInterval(one),
    placeholderData: (previous) => previous,
  });
  const first = useFirstPage({ key, load, ...(hasMorePages(query.data) && refresh && { refresh }) });
  const [isLoadingAll, setLoadingAll] = useState(false);
  const loadAll = async (): Promise<void> => {
    setLoadingAll(true);
    let read = await query.fetchNextPage();
    while (read.hasNextPage && !read.isError) read = await read.fetchNextPage();
    setLoadingAll(false);
  };
  const more: MoreRows = {
    hasMore: query.hasNextPage,
    isLoading: query.isFetchingNextPage || isLoadingAll,
    load: () => void query.fetchNextPage(),
    loadAll: () => void loadAll(),
  };
  const pages = query.data?.pages;
  const items: readonly Page['items'][number][] | undefined = pages?.flatMap((page) => page.items);
  const error = query.error ?? first.error;
  // Of the previous filter, until the rows of this one are there.
  const total = query.isPlaceholderData ? undefined : pages?.[0]?.total;
  const { isPending, refetch, isPlaceholderData: isStale } = query;
  return { data: items, pages, total, error, isPending, isStale, refetch, more };
}

const MAX_EMPTY_PAGES = 20;

/** Reads on while a page of a search is empty and yet has more after it. */
async function loadFilled<Page extends ListPage<unknown>>(
  load: ListOptions<Page>['load'],
  cursor: string | undefined,
  signal: AbortSignal,
): Promise<Page> {
  let page = await load(cursor, signal);
  for (let read = 1; page.items.length === 0 && page.next !== undefined && read < MAX_EMPTY_PAGES; read += 1)
    page = await load(page.next, signal);
  return page;
}

const hasMorePages = (data: InfiniteData<unknown> | undefined): boolean => (data?.pages.length ?? 0) > 1;

/** Keeps the first page of a list fresh where more are open: the query of the list can only read all of them again. */
function useFirstPage<Page extends ListPage<unknown>>({ key, refresh, load }: ListOptions<Page>) {
  const client = useQueryClient();
  return useQuery({
    queryKey: [...key, 'first page'],
    async queryFn({ signal }) {
      const first = await load(undefined, signal);
      const data = client.getQueryData<InfiniteData<Page>>(key);
      const merged = data && refresh && mergeFirstPage(data, first, refresh.getId);
      if (merged) client.setQueryData(key, merged);
      else void client.invalidateQueries({ queryKey: key, exact: true });
      return null;
    },
    enabled: refresh !== undefined,
    initialData: null,
    staleTime: Infinity,
    refetchInterval: refresh?.everyMs ?? false,
  });
}

/** The query of a page: `cursor` only where there is one. */
export const toPageQuery = (
  cursor: string | undefined,
  limit = cursor === undefined ? FIRST_PAGE_SIZE : PAGE_SIZE,
) => ({
  limit,
  ...(cursor !== undefined && { cursor }),
});

export const toListPage = <Item>(page: {
  readonly data: readonly Item[];
  readonly pagination?: ListTotal;
  readonly nextCursor?: string | null;
}): ListPage<Item> => ({ items: page.data, next: page.nextCursor ?? undefined, total: page.pagination });
