import { text } from '#text/shared';
import { type ReactNode, type SyntheticEvent, useRef, useState } from 'react';
import { Dialog, Heading, Modal, ModalOverlay } from 'react-aria-components';
import { Button } from './button.tsx';
import { ConfirmLeaving, isWorthKeeping } from './confirm-leaving.tsx';
import { GuardedForm } from './guarded-form.tsx';
import { CloseIcon } from './icons.tsx';

interface ModalDialogProps {
  readonly title: string;
  readonly isWide?: boolean;
  /** An answer that is shown once should not vanish by a click beside it. */
  readonly isKept?: boolean;
  onClose(): void;
  readonly children: ReactNode;
}

/** A dialog. Escape and a click beside it close it, but ask first when something is typed in it. */
export function ModalDialog({ title, isWide, isKept = false, onClose, children }: ModalDialogProps) {
  const isFilled = useRef(false);
  const [isAsking, setAsking] = useState(false);
  const noteInput = (event: SyntheticEvent): void => {
    if (isWorthKeeping(event)) isFilled.current = true;
  };
  const leave = (): void => {
    if (isFilled.current) setAsking(true);
    else onClose();
  };
  return (
    <ModalOverlay
      className="overlay"
      isOpen
      isDismissable={!isKept}
      isKeyboardDismissDisabled={isKept}
      onOpenChange={(isOpen) => !isOpen && leave()}
    >
      <Modal className={isWide ? 'modal wide' : 'modal'}>
        <Dialog className="dialog">
          <header className="dialog-header">
            <Heading slot="title">{title}</Heading>
            {!isKept && (
              <Button kind="quiet" aria-label={text.close} onPress={leave}>
                <CloseIcon />
              </Button>
            )}
          </header>
          <div className="dialog-content" onInput={noteInput}>
            {children}
          </div>
          {isAsking && <ConfirmLeaving onStay={() => setAsking(false)} onLeave={onClose} />}
        </Dialog>
      </Modal>
    </ModalOverlay>
  );
}

interface DialogFormProps {
  readonly action: string;
  readonly isDangerous?: boolean;
  readonly isPending: boolean;
  readonly error: unknown;
  readonly children: ReactNode;
  onClose(): void;
  onSubmit(form: FormData): void;
}

/** A form in a dialog. It stays open, with everything typed, until the platform has confirmed the change. */
export const DialogForm = ({
  action,
  isDangerous,
  isPending,
  error,
  children,
  onClose,
  onSubmit,
}: DialogFormProps) => (
  <GuardedForm
    isPending={isPending}
    error={error}
    onSubmit={onSubmit}
    footer={
      <div className="actions">
        <Button onPress={onClose}>{text.cancel}</Button>
        <Button type="submit" kind={isDangerous ? 'danger' : 'primary'} isPending={isPending}>
          {action}
        </Button>
      </div>
    }
  >
    {children}
  </GuardedForm>
);

export interface FormDialogProps extends DialogFormProps {
  readonly title: string;
  readonly isWide?: boolean;
}

export const FormDialog = ({ title, isWide = false, ...form }: FormDialogProps) => (
  <ModalDialog title={title} isWide={isWide} onClose={form.onClose}>
    <DialogForm {...form} />
  </ModalDialog>
);
