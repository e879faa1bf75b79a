import { memo, type ReactNode } from 'react';
import { Button, CheckboxButton, CheckboxField, Link } from 'react-aria-components';
import { type DataColumn, getClass } from './data-column.ts';
import { CheckIcon } from './icons.tsx';

interface DataRowProps<Item> {
  readonly item: Item;
  readonly columns: readonly DataColumn<Item>[];
  /** The id of the element that names the row. */
  readonly headerId: string;
  /** The address of the row. */
  readonly href: string | undefined;
  /** Shows a row that has no address of its own. */
  readonly onOpen: ((item: Item) => void) | undefined;
  /** Undefined where rows are not selected. */
  readonly isSelected: boolean | undefined;
  readonly onToggle: (item: Item) => void;
}

function Row<Item>({ item, columns, headerId, href, onOpen, isSelected, onToggle }: DataRowProps<Item>) {
  const opens = href !== undefined || onOpen !== undefined;
  const [first, ...others] = columns;
  return (
    <tr className={opens ? 'opens' : undefined} data-selected={isSelected || undefined}>
      {isSelected !== undefined && (
        <td className="narrow">
          <SelectBox aria-labelledby={headerId} isSelected={isSelected} onChange={() => onToggle(item)} />
        </td>
      )}
      {first && (
        <td role="rowheader" id={headerId} className={getClass(first)}>
          <Opener href={href} {...(onOpen && { onPress: () => onOpen(item) })}>
            {first.render(item)}
          </Opener>
        </td>
      )}
      {others.map((column) => (
        <td key={column.id} className={getClass(column)}>
          {opens && column.isFreeText ? (
            <div className="clamped">{column.render(item)}</div>
          ) : (
            column.render(item)
          )}
        </td>
      ))}
    </tr>
  );
}

/** A row, which is rendered again only when its item, its selection or the columns change. */
export const DataRow = memo(Row) as typeof Row;

interface OpenerProps {
  readonly href: string | undefined;
  readonly onPress?: () => void;
  readonly children: ReactNode;
}

/** The link or button in the first cell. Its area covers the row. */
function Opener({ href, onPress, children }: OpenerProps) {
  if (href !== undefined)
    return (
      <Link href={href} className="opener clamped">
        {children}
      </Link>
    );
  if (onPress)
    return (
      <Button className="opener clamped" onPress={onPress}>
        {children}
      </Button>
    );
  return children;
}

interface SelectBoxProps {
  readonly 'aria-label'?: string;
  readonly 'aria-labelledby'?: string;
  readonly isSelected: boolean;
  readonly isIndeterminate?: boolean;
  onChange(isSelected: boolean): void;
}

export const SelectBox = (props: SelectBoxProps) => (
  <CheckboxField {...props}>
    <CheckboxButton className="checkbox">
      <span className="box">
        <CheckIcon />
      </span>
    </CheckboxButton>
  </CheckboxField>
);
