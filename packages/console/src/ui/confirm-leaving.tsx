import { text } from '#text/shared';
import { type ParsedLocation, useBlocker } from '@tanstack/react-router';
import { useCallback, useContext } from 'react';
import { Dialog, Heading, Modal, ModalOverlay } from 'react-aria-components';
import { Button } from './button.tsx';
import { DialogBusyContext } from './form-state.ts';
import { isMainDialog } from './main-dialog.ts';

/** Why somebody may not want to leave: something typed, a change that is under way, or what is shown this once. */
export type LeaveReason = keyof typeof text.leaving;

/** Whether somebody would miss what is typed here: the own password is typed again in a moment. */
export const isWorthKeeping = ({ target }: { readonly target: unknown }): boolean =>
  !(target instanceof HTMLInputElement && target.autocomplete === 'current-password');

type Address = Pick<ParsedLocation<Record<string, string>>, 'pathname' | 'search'>;

interface Step {
  readonly action: string;
  readonly current: Address;
  readonly next: Address;
}

/**
 * Whether a step takes a form away. The filters of a screen are in its address, too, and its main dialog, which closes
 * itself by replacing the address: any other step that closes it comes from outside, such as the Back of the browser.
 */
const isLeaving = ({ action, current, next }: Step): boolean =>
  current.pathname !== next.pathname ||
  (action !== 'REPLACE' && isMainDialog(current.search) && !isMainDialog(next.search));

/** Asks before another screen, or the browser, takes the place of this one. @returns the question, while it is asked. */
export function useLeaveQuestion(findReason: () => LeaveReason | undefined) {
  const isInDialog = useContext(DialogBusyContext) !== undefined;
  const hasReason = useCallback(() => findReason() !== undefined, [findReason]);
  const shouldBlockFn = useCallback(
    (step: Step) => {
      // Back closes the dialog, which asks for itself.
      if (isInDialog && step.action === 'BACK' && findReason() === 'typed') return false;
      return hasReason() && isLeaving(step);
    },
    [isInDialog, findReason, hasReason],
  );
  const blocker = useBlocker({ shouldBlockFn, enableBeforeUnload: hasReason, withResolver: true });
  return (
    blocker.status === 'blocked' && (
      <ConfirmLeaving reason={findReason() ?? 'typed'} onStay={blocker.reset} onLeave={blocker.proceed} />
    )
  );
}

interface ConfirmLeavingProps {
  readonly reason: LeaveReason;
  onStay(): void;
  onLeave(): void;
}

/** Asks before what is typed, or shown this once, is gone. */
export const ConfirmLeaving = ({ reason, onStay, onLeave }: ConfirmLeavingProps) => (
  <ModalOverlay className="overlay" isOpen isDismissable onOpenChange={(isOpen) => !isOpen && onStay()}>
    <Modal className="modal">
      <Dialog className="dialog" role="alertdialog">
        <header className="dialog-header">
          <Heading slot="title">{text.leaving[reason].title}</Heading>
        </header>
        <div className="dialog-content">
          <p>{text.leaving[reason].advice}</p>
          <div className="actions">
            <Button onPress={onLeave}>{text.leaving[reason].leave}</Button>
            <Button kind="primary" autoFocus onPress={onStay}>
              {text.leaving[reason].stay}
            </Button>
          </div>
        </div>
      </Dialog>
    </Modal>
  </ModalOverlay>
);
