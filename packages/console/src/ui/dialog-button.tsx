import { text } from '#text/shared';
import { Link } from '@tanstack/react-router';
import type { ComponentType } from 'react';
import { Button } from './button.tsx';
import { PlusIcon } from './icons.tsx';
import { MAIN_DIALOG, useMainDialog } from './main-dialog.ts';

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

/** The same button inside an empty list, with another name. */
export function EmptyButton({ label }: { label: string }) {
  const { open } = useMainDialog();
  return (
    <Button onPress={open}>
      <PlusIcon />
      {label}
    </Button>
  );
}

/** The button of an empty list whose action is the main dialog of another screen. */
export const EmptyLink = ({ to, label }: { to: string; label: string }) => (
  <Link to={to} search={MAIN_DIALOG} className="button plain">
    <PlusIcon />
    {label}
  </Link>
);

/** The way to the first call, in lists that are empty until an agent is connected. */
export const ConnectLink = () => (
  <Link to="/connect" className="button plain">
    {text.connectAgent}
  </Link>
);
