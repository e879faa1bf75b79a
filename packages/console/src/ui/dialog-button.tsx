import type { ComponentType } from 'react';
import { Button } from './button.tsx';
import { PlusIcon } from './icons.tsx';
import { useFilters } from './use-filters.ts';

const PARAMETER = 'do';
const NEW = 'new';

/** Whether the main dialog of the screen is open: that stands in the address, so that other places can lead to it. */
export function useMainDialog() {
  const { filters, setFilter } = useFilters();
  return {
    isOpen: filters[PARAMETER] === NEW,
    open: () => setFilter(PARAMETER, NEW),
    close: () => setFilter(PARAMETER, ''),
  };
}

interface DialogButtonProps {
  readonly label: string;
  readonly dialog: ComponentType<{ onClose(): void }>;
}

/** The main button of a screen, which opens a dialog. */
export function DialogButton({ label, dialog: Dialog }: DialogButtonProps) {
  const { isOpen, open, close } = useMainDialog();
  return (
    <>
      <Button kind="primary" onPress={open}>
        <PlusIcon />
        {label}
      </Button>
      {isOpen && <Dialog onClose={close} />}
    </>
  );
}

/** The same button inside an empty list, under a name of its own. */
export function EmptyButton({ label }: { label: string }) {
  const { open } = useMainDialog();
  return (
    <Button onPress={open}>
      <PlusIcon />
      {label}
    </Button>
  );
}
