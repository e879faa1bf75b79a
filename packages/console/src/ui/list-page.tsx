import { LOCALE, text } from '#text/shared';
import { type ComponentProps, type ReactNode, useState } from 'react';
import { BulkButton } from './bulk-button.tsx';
import { Button } from './button.tsx';
import { DataTable } from './data-table.tsx';
import { FilterBar } from './filters.tsx';
import type { ListTotal } from './merge-first-page.ts';
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
  list: { more, isStale, ...query },
  ...table
}: ListViewProps<Item>) => (
  <QueryView query={query}>
    {(items) => (
      <DataTable {...table} items={items} more={more} total={toExactTotal(query.total)} isStale={isStale} />
    )}
  </QueryView>
);

const toExactTotal = (total: ListTotal | undefined): number | undefined =>
  total?.totalIsMinimum === true ? undefined : total?.total;

const number = new Intl.NumberFormat(LOCALE);

/** How many rows the list has, on all of its pages. */
export const Total = ({ of }: { of: ListTotal | undefined }) =>
  of && (
    <span className="total" role="status">
      {text.total(number.format(of.total), of.total, of.totalIsMinimum ?? false)}
    </span>
  );

/** An action on several rows at once. */
export interface BulkAction<Item> {
  readonly label: string;
  /** Which of the chosen rows it can be done with. */
  applies?(item: Item): boolean;
  run(items: readonly Item[]): void;
}

interface ListPageProps<Item> extends Omit<ListViewProps<Item>, 'label' | 'selection'> {
  readonly title: string;
  readonly intro: string;
  readonly actions?: ReactNode;
  readonly filters?: ReactNode;
  readonly bulk?: readonly BulkAction<Item>[];
  /** The dialogs that the rows open. */
  readonly children?: ReactNode;
}

/** A screen that is a list. */
export const ListPage = <Item extends object>(props: ListPageProps<Item>) => {
  const { title, intro, actions, filters, bulk, children, ...view } = props;
  const [keys, setKeys] = useState<ReadonlySet<string>>(new Set());
  // Rows that are filtered out, or were removed, are not acted on.
  const chosen = keys.size === 0 ? [] : (view.list.data ?? []).filter((item) => keys.has(view.getId(item)));
  return (
    <Page title={title} intro={intro} actions={actions}>
      <FilterBar>
        {filters}
        <Total of={view.list.total} />
        {chosen.length > 0 && bulk && (
          <Bulk
            chosen={chosen}
            total={view.list.more.hasMore ? view.list.total : undefined}
            actions={bulk}
            onClear={() => setKeys(new Set())}
          />
        )}
      </FilterBar>
      <ListView {...view} {...(bulk && { selection: { keys, onChange: setKeys } })} label={title} />
      {children}
    </Page>
  );
};

interface BulkProps<Item> {
  readonly chosen: readonly Item[];
  /** How many there are, while not all of them are loaded. */
  readonly total: ListTotal | undefined;
  readonly actions: readonly BulkAction<Item>[];
  onClear(): void;
}

const Bulk = <Item,>({ chosen, total, actions, onClear }: BulkProps<Item>) => {
  const all = toExactTotal(total);
  const words = text.selected(chosen.length, all === undefined ? undefined : number.format(all));
  return (
    <div className="bulk" role="group" aria-label={words}>
      <span>{words}</span>
      {actions.map(({ label, applies = () => true, run }) => (
        <BulkButton
          key={label}
          label={label}
          count={chosen.length}
          fitting={chosen.filter(applies)}
          onPress={run}
        />
      ))}
      <Button kind="quiet" onPress={onClear}>
        {text.clearSelection}
      </Button>
    </div>
  );
};
