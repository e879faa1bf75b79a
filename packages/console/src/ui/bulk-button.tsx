import { text } from '#text/shared';
import { Button } from './button.tsx';

interface BulkButtonProps<Item> {
  readonly label: string;
  /** How many rows are selected. */
  readonly count: number;
  /** The selected items that it applies to. */
  readonly fitting: readonly Item[];
  onPress(fitting: readonly Item[]): void;
}

/** Does something with the selected rows that it can be done with, and says with how many where these are not all. */
export const BulkButton = <Item,>({ label, count, fitting, onPress }: BulkButtonProps<Item>) => (
  <Button isDisabled={fitting.length === 0} onPress={() => onPress(fitting)}>
    {fitting.length === count ? label : text.someOf(label, fitting.length)}
  </Button>
);
