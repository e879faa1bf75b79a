import { type ComponentType, useState } from 'react';
import { Button } from './button.tsx';

interface DialogButtonProps {
  readonly label: string;
  readonly dialog: ComponentType<{ onClose(): void }>;
}

/** The main button of a screen, which opens a dialog. */
export function DialogButton({ label, dialog: Dialog }: DialogButtonProps) {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <Button kind="primary" onPress={() => setOpen(true)}>
        {label}
      </Button>
      {isOpen && <Dialog onClose={() => setOpen(false)} />}
    </>
  );
}
