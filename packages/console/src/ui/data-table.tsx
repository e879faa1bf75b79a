import { text } from '#text/shared';
import type { ReactNode } from 'react';
import {
  Cell,
  CheckboxButton,
  CheckboxField,
  Column,
  Row,
  type Selection,
  Table,
  TableBody,
  TableHeader,
} from 'react-aria-components';
import { Button } from './button.tsx';
import { CheckIcon } from './icons.tsx';

export interface DataColumn<Item> {
  readonly id: string;
  readonly label: string;

  readonly isNarrow?: boolean;
  /** Keeps the label for screen readers only. */
  readonly isUnlabelled?: boolean;
  /** Leaves the column out on a phone. */
  readonly isSecondary?: boolean;
  render(item: Item): ReactNode;
}

/** The rest of a list that is paged by cursor. */
export interface MoreRows {
  readonly hasMore: boolean;
  readonly isLoading: boolean;
  load(): void;
}

interface DataTableProps<Item> {
  readonly label: string;
  readonly columns: readonly DataColumn<Item>[];
  readonly items: readonly Item[];
  readonly empty: ReactNode;
  readonly more?: MoreRows;
  readonly selection?: { readonly keys: ReadonlySet<string>; onChange(keys: ReadonlySet<string>): void };
  getId(item: Item): string;
  /** The address of a row; pressing it opens that. */
  getHref?(item: Item): string;
  /** Shows a row that has no address of its own. */
  onOpen?(item: Item): void;
}

export function DataTable<Item extends object>(props: DataTableProps<Item>) {
  const { label, columns, items, empty, more, getId, getHref, onOpen, selection } = props;
  const change = (keys: Selection): void =>
    selection?.onChange(new Set(keys === 'all' ? items.map(getId) : [...keys].map(String)));
  if (items.length === 0) return <div className="table-frame">{empty}</div>;
  return (
    <>
      <div className="table-frame">
        <Table
          aria-label={label}
          className="table"
          {...(selection && {
            selectionMode: 'multiple' as const,
            selectedKeys: selection.keys,
            onSelectionChange: change,
          })}
        >
          <TableHeader>
            {selection && (
              <Column className="narrow">
                <SelectBox />
              </Column>
            )}
            {columns.map((column, index) => (
              <Column key={column.id} id={column.id} isRowHeader={index === 0} className={getClass(column)}>
                {column.isUnlabelled ? <span className="unseen">{column.label}</span> : column.label}
              </Column>
            ))}
          </TableHeader>
          <TableBody>
            {items.map((item) => (
              <Row
                key={getId(item)}
                id={getId(item)}
                {...((getHref ?? onOpen) && { className: 'react-aria-Row opens' })}
                {...(getHref && { href: getHref(item) })}
                {...(onOpen && { onAction: () => onOpen(item) })}
              >
                {selection && (
                  <Cell className="narrow">
                    <SelectBox />
                  </Cell>
                )}
                {columns.map((column) => (
                  <Cell key={column.id} className={getClass(column)}>
                    {column.render(item)}
                  </Cell>
                ))}
              </Row>
            ))}
          </TableBody>
        </Table>
      </div>
      {more?.hasMore && (
        <Button onPress={() => more.load()} isPending={more.isLoading}>
          {text.showMore}
        </Button>
      )}
    </>
  );
}

const getClass = ({ isNarrow, isSecondary }: Pick<DataColumn<never>, 'isNarrow' | 'isSecondary'>): string =>
  [isNarrow && 'narrow', isSecondary && 'secondary'].filter(Boolean).join(' ');

const SelectBox = () => (
  <CheckboxField slot="selection">
    <CheckboxButton className="checkbox">
      <span className="box">
        <CheckIcon />
      </span>
    </CheckboxButton>
  </CheckboxField>
);
