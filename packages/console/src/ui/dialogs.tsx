import { text } from '#text/shared';
import type { ReactNode } from 'react';
import { Dialog, Form, Heading, Modal, ModalOverlay } from 'react-aria-components';
import { Button } from './button.tsx';
import { ProblemNote } from './problem-note.tsx';

interface ModalDialogProps {
  readonly title: string;
  readonly isWide?: boolean;
  /** An answer that is shown once should not vanish by a click beside it. */
  readonly isKept?: boolean;
  onClose(): void;
  readonly children: ReactNode;
}

export const ModalDialog = ({ title, isWide, isKept = false, onClose, children }: ModalDialogProps) => (
  <ModalOverlay
    className="overlay"
    isOpen
    isDismissable={!isKept}
    isKeyboardDismissDisabled={isKept}
    onOpenChange={(isOpen) => !isOpen && onClose()}
  >
    <Modal className={isWide ? 'modal wide' : 'modal'}>
      <Dialog className="dialog">
        <Heading slot="title">{title}</Heading>
        {children}
      </Dialog>
    </Modal>
  </ModalOverlay>
);

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
  <Form
    className="form"
    onSubmit={(event) => {
      event.preventDefault();
      if (!isPending) onSubmit(new FormData(event.currentTarget));
    }}
  >
    {children}
    <ProblemNote error={error} />
    <div className="actions">
      <Button onPress={onClose}>{text.cancel}</Button>
      <Button type="submit" kind={isDangerous ? 'danger' : 'primary'} isPending={isPending}>
        {action}
      </Button>
    </div>
  </Form>
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
