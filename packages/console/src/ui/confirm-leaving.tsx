import { text } from '#text/shared';
import { Dialog, Heading, Modal, ModalOverlay } from 'react-aria-components';
import { Button } from './button.tsx';

/** Whether somebody would miss what is typed here: a password is typed again in a moment. */
export const isWorthKeeping = ({ target }: { readonly target: unknown }): boolean =>
  !(target instanceof HTMLInputElement && target.type === 'password');

/** Asks before what is typed is discarded. */
export const ConfirmLeaving = ({ onStay, onLeave }: { onStay: () => void; onLeave: () => void }) => (
  <ModalOverlay className="overlay" isOpen isDismissable onOpenChange={(isOpen) => !isOpen && onStay()}>
    <Modal className="modal">
      <Dialog className="dialog" role="alertdialog">
        <header className="dialog-header">
          <Heading slot="title">{text.form.leaveTitle}</Heading>
        </header>
        <div className="dialog-content">
          <p>{text.form.leaveAdvice}</p>
          <div className="actions">
            <Button onPress={onLeave}>{text.form.leave}</Button>
            <Button kind="primary" autoFocus onPress={onStay}>
              {text.form.stay}
            </Button>
          </div>
        </div>
      </Dialog>
    </Modal>
  </ModalOverlay>
);
