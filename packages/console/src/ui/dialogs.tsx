import { text } from '#text/shared';
import { type ReactNode, type SyntheticEvent, useCallback, useRef, useState } from 'react';
import { Dialog, Heading, Modal, ModalOverlay } from 'react-aria-components';
import { Button } from './button.tsx';
import { ConfirmLeaving, isWorthKeeping, useLeaveQuestion } from './confirm-leaving.tsx';
import { DialogBusyContext } from './form-state.ts';
import { GuardedForm, SubmitButton } from './guarded-form.tsx';
import { CloseIcon } from './icons.tsx';
import { useBack } from './use-back.ts';

interface ModalDialogProps {
  readonly title: string;
  readonly isWide?: boolean;
  /** An answer that is shown once should not vanish by a click beside it. */
  readonly isKept?: boolean;
  onClose(): void;
  readonly children: ReactNode;
}

/**
 * A dialog. Escape, Back and a click beside it close it, but ask first when something is typed in it, and wait for a change that
 * is under way: its answer, such as a new token, would be lost.
 */
export function ModalDialog({ title, isWide, isKept = false, onClose, children }: ModalDialogProps) {
  const isFilled = useRef(false);
  const isBusy = useRef(false);
  const [isAsking, setAsking] = useState(false);
  const noteInput = (event: SyntheticEvent): void => {
    if (isWorthKeeping(event)) isFilled.current = true;
  };
  const leave = (): void => {
    if (isBusy.current) return;
    if (isFilled.current) setAsking(true);
    else onClose();
  };
  useBack(() => {
    // Whether what is under way, or shown this once, is left is asked by those.
    if (isBusy.current || isKept) return false;
    leave();
    return true;
  });
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
            <DialogBusyContext value={isBusy}>{children}</DialogBusyContext>
          </div>
          {isAsking && <ConfirmLeaving reason="typed" onStay={() => setAsking(false)} onLeave={onClose} />}
          {isKept && <KeepShown />}
        </Dialog>
      </Modal>
    </ModalOverlay>
  );
}

/** Asks before the browser leaves what is shown this once. */
function KeepShown() {
  return useLeaveQuestion(useCallback(() => 'shown', []));
}

interface DialogFormProps {
  readonly action: string;
  /** The label of the button that leaves; “Cancel” by default. */
  readonly leave?: string;
  readonly isDangerous?: boolean;
  readonly isPending: boolean;
  readonly error: unknown;
  /** What else went wrong, beside the error. */
  readonly faults?: ReactNode;
  readonly children: ReactNode;
  onClose(): void;
  onSubmit(form: FormData): void;
}

/** A form in a dialog. It stays open, with everything typed, until the platform has confirmed the change. */
export const DialogForm = ({
  action,
  leave = text.cancel,
  isDangerous,
  children,
  onClose,
  ...form
}: DialogFormProps) => (
  <GuardedForm
    {...form}
    footer={
      <div className="actions">
        <Button isDisabled={form.isPending} onPress={onClose}>
          {leave}
        </Button>
        <SubmitButton kind={isDangerous ? 'danger' : 'primary'} isPending={form.isPending}>
          {action}
        </SubmitButton>
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
