import type { ReactNode } from 'react';

export interface DataColumn<Item> {
  readonly id: string;
  readonly label: string;
  /** Holds what people have written, which may be a single word of any length. The first column always may. */
  readonly isFreeText?: boolean;
  readonly isNarrow?: boolean;
  /** The value of `sort` in the address that orders the list by this column; pressing its label sets and clears it. */
  readonly sort?: string | undefined;
  /** Keeps the label for screen readers only. */
  readonly isUnlabelled?: boolean;
  /** Leaves the column out on a phone; `folded` of the table says there what matters of it. */
  readonly isSecondary?: boolean;
  /** Leaves the column out where the page is less than 1,200 pixels wide. */
  readonly isWide?: boolean;
  render(item: Item): ReactNode;
}

type Layout = Pick<DataColumn<never>, 'isFreeText' | 'isNarrow' | 'isSecondary' | 'isWide'>;

export const getClass = ({ isFreeText, isNarrow, isSecondary, isWide }: Layout): string =>
  [isFreeText && 'free', isNarrow && 'narrow', isSecondary && 'secondary', isWide && 'wide']
    .filter(Boolean)
    .join(' ');
