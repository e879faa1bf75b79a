import type { ComponentProps, ReactNode } from 'react';
import { DataTable } from './data-table.tsx';
import { FilterBar } from './filters.tsx';
import { Page } from './page.tsx';
import { QueryView } from './query-view.tsx';
import type { useList } from './use-list.ts';

interface ListViewProps<Item> extends Omit<
  ComponentProps<typeof DataTable<Item & object>>,
  'items' | 'more'
> {
  readonly list: Omit<ReturnType<typeof useList>, 'data'> & { readonly data: readonly Item[] | undefined };
}

/** The rows of a list, or why there are none. */
export const ListView = <Item extends object>({
  list: { more, ...query },
  ...table
}: ListViewProps<Item>) => (
  <QueryView query={query}>{(items) => <DataTable {...table} items={items} more={more} />}</QueryView>
);

interface ListPageProps<Item> extends Omit<ListViewProps<Item>, 'label'> {
  readonly title: string;
  readonly intro: string;
  readonly actions?: ReactNode;
  readonly filters?: ReactNode;
  /** The dialogs that the rows open. */
  readonly children?: ReactNode;
}

/** A screen that is a list. */
export const ListPage = <Item extends object>(props: ListPageProps<Item>) => {
  const { title, intro, actions, filters, children, ...view } = props;
  return (
    <Page title={title} intro={intro} actions={actions}>
      {filters !== undefined && <FilterBar>{filters}</FilterBar>}
      <ListView {...view} label={title} />
      {children}
    </Page>
  );
};
