import { useNavigate } from '@tanstack/react-router';
import { memo, type ReactNode } from 'react';
import { type DataColumn, getClass } from './data-column.ts';
import { CheckIcon } from './icons.tsx';

interface DataRowProps<Item> {
  readonly item: Item;
  readonly columns: readonly DataColumn<Item>[];
  /** The id of the element that names the row. */
  readonly headerId: string;
  /** The address of the row. */
  readonly href: string | undefined;
  /** Shows a row without an address. */
  readonly onOpen: ((item: Item) => void) | undefined;
  /** Undefined where rows are not selected. */
  readonly isSelected: boolean | undefined;
  readonly folded: ((item: Item) => ReactNode) | undefined;
  readonly onToggle: (item: Item) => void;
}

function Row<Item>(props: DataRowProps<Item>) {
  const { item, columns, headerId, href, onOpen, isSelected, folded, onToggle } = props;
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
          {folded && <span className="folded">{folded(item)}</span>}
        </td>
      )}
      {others.map((column) => (
        <td key={column.id} className={getClass(column)}>
          {column.render(item)}
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
  const navigate = useNavigate();
  // Plain elements: a list has hundreds of these.
  if (href !== undefined)
    return (
      <a
        href={href}
        className="opener"
        onClick={(event) => {
          if (event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
          event.preventDefault();
          void navigate({ href });
        }}
      >
        {children}
      </a>
    );
  if (onPress)
    return (
      <button type="button" className="opener" onClick={onPress}>
        {children}
      </button>
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

/** Selects a row, or all. A plain element: a list has hundreds of these. */
export const SelectBox = ({ isSelected, isIndeterminate = false, onChange, ...name }: SelectBoxProps) => (
  <span
    className="checkbox"
    data-selected={isSelected || undefined}
    data-indeterminate={isIndeterminate || undefined}
  >
    <input
      {...name}
      type="checkbox"
      checked={isSelected}
      ref={(input) => {
        if (input) input.indeterminate = isIndeterminate;
      }}
      onChange={(event) => onChange(event.currentTarget.checked)}
    />
    <span className="box">
      <CheckIcon />
    </span>
  </span>
);
