import { LOCALE, text } from '#text/shared';
import { type ReactNode, useCallback, useEffect, useId, useRef } from 'react';
import { Button } from './button.tsx';
import { type DataColumn, getClass } from './data-column.ts';
import { DataRow, SelectBox } from './data-row.tsx';
import { SortIcon } from './icons.tsx';
import { useFilters } from './use-filters.ts';
import { useIsPhone } from './use-is-phone.ts';

export type { DataColumn } from './data-column.ts';

/** The rest of a list that is paged by cursor. */
export interface MoreRows {
  readonly hasMore: boolean;
  readonly isLoading: boolean;
  load(): void;
  loadAll(): void;
}

interface TableSelection {
  readonly keys: ReadonlySet<string>;
  onChange(keys: ReadonlySet<string>): void;
}

interface RowsProps<Item> {
  readonly label: string;
  /** The same array in each rendering, as long as it renders the same: a new one renders every row again. */
  readonly columns: readonly DataColumn<Item>[];
  readonly items: readonly Item[];
  readonly selection?: TableSelection;
  /** The details that a phone shows below the name, in place of the secondary columns. */
  folded?(item: Item): ReactNode;
  getId(item: Item): string;
  /** The address of a row; pressing it opens that. */
  getHref?(item: Item): string;
  /** Shows a row without an address. The same function in each rendering, like the columns. */
  readonly onOpen?: (item: Item) => void;
}

interface DataTableProps<Item> extends RowsProps<Item> {
  readonly empty: ReactNode;
  readonly more?: MoreRows;
  /** How many rows there are, where that is known. */
  readonly total?: number | undefined;
  /** Whether the rows are those of the filter before. */
  readonly isStale?: boolean;
}

/** More rows than this are found by a filter rather than by looking through them. */
const MAX_SHOWN = 2_000;
const number = new Intl.NumberFormat(LOCALE);

export function DataTable<Item extends object>(props: DataTableProps<Item>) {
  const { empty, more, total, isStale = false, ...rows } = props;
  if (rows.items.length === 0) return <div className="table-frame">{empty}</div>;
  // What scrolls has to take the focus, by the links of its rows or by itself.
  const frame = rows.getHref || rows.onOpen ? {} : { role: 'region', 'aria-label': rows.label, tabIndex: 0 };
  return (
    <>
      <div className="table-frame" aria-busy={isStale} {...frame}>
        <Rows {...rows} hasMore={more?.hasMore ?? false} />
      </div>
      {more?.hasMore && (
        <div className="actions">
          <Button onPress={() => more.load()} isPending={more.isLoading}>
            {text.showMore}
          </Button>
          {total !== undefined && total <= MAX_SHOWN && (
            <Button onPress={() => more.loadAll()} isDisabled={more.isLoading}>
              {text.showAll(number.format(total))}
            </Button>
          )}
        </div>
      )}
    </>
  );
}

/**
 * A table of the platform, with a link in each row. The table of react-aria-components renders every row again when one
 * is added, focused or selected: a page more took seconds in a list of a thousand rows.
 */
function Rows<Item extends object>({
  label,
  columns,
  items,
  selection,
  folded,
  hasMore,
  getId,
  getHref,
  onOpen,
}: RowsProps<Item> & { readonly hasMore: boolean }) {
  const name = useId();
  const ids = items.map(getId);
  const toggle = useToggle(selection, getId);
  const isPhone = useIsPhone();
  return (
    <table aria-label={label} className="table" onPointerOver={nameWhatIsCut}>
      <thead>
        <tr>
          {selection && (
            <th className="narrow">
              <SelectBox
                aria-label={hasMore ? text.selectShown(ids.length) : text.selectAll}
                isSelected={ids.every((id) => selection.keys.has(id))}
                isIndeterminate={isPartial(ids, selection.keys)}
                onChange={(isSelected) => selection.onChange(new Set(isSelected ? ids : []))}
              />
            </th>
          )}
          {columns.map((column) => (
            <Head key={column.id} {...column} />
          ))}
        </tr>
      </thead>
      <tbody>
        {items.map((item) => (
          <DataRow
            key={getId(item)}
            item={item}
            columns={columns}
            headerId={`${name}${getId(item)}`}
            href={getHref?.(item)}
            onOpen={onOpen}
            isSelected={selection?.keys.has(getId(item))}
            folded={isPhone ? folded : undefined}
            onToggle={toggle}
          />
        ))}
      </tbody>
    </table>
  );
}

/** The label of a column, which orders the list where the platform can. */
function Head({ label, isUnlabelled, sort, ...layout }: DataColumn<never>) {
  const { filters, setFilter } = useFilters();
  const isSorted = sort !== undefined && filters['sort'] === sort;
  return (
    <th scope="col" className={getClass(layout)} aria-sort={isSorted ? 'ascending' : undefined}>
      {sort === undefined ? (
        <span className={isUnlabelled ? 'unseen' : undefined}>{label}</span>
      ) : (
        <button type="button" className="sort" onClick={() => setFilter('sort', isSorted ? '' : sort)}>
          {label}
          <SortIcon />
        </button>
      )}
    </th>
  );
}

/** Gives what is cut under the pointer a tooltip with all of it. */
function nameWhatIsCut({ target }: { readonly target: EventTarget }): void {
  for (let at = target instanceof HTMLElement ? target : null; at?.closest('td'); at = at.parentElement) {
    if (at.title !== '' && at.dataset['cut'] === undefined) return;
    if (at.scrollWidth > at.clientWidth && at.clientWidth > 0) {
      at.dataset['cut'] = '';
      at.title = at.textContent;
      return;
    }
  }
}

const isPartial = (ids: readonly string[], keys: ReadonlySet<string>): boolean =>
  ids.some((id) => keys.has(id)) && !ids.every((id) => keys.has(id));

/** Returns what selects a row, or no longer: the same function in each rendering, so that rows are not rendered for it. */
function useToggle<Item>(selection: TableSelection | undefined, getId: (item: Item) => string) {
  const current = useRef({ selection, getId });
  useEffect(() => {
    current.current = { selection, getId };
  });
  return useCallback((item: Item): void => {
    const { selection: latest, getId: toId } = current.current;
    const keys = new Set(latest?.keys);
    if (!keys.delete(toId(item))) keys.add(toId(item));
    latest?.onChange(keys);
  }, []);
}
