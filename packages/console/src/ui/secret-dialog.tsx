import { text } from '#text/shared';
import type { QueryKey } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { Button } from './button.tsx';
import { DialogForm, ModalDialog } from './dialogs.tsx';
import { useAction } from './use-action.ts';

interface SecretDialogProps<Result> {
  readonly title: string;
  /** The title once there is a secret. */
  readonly shownTitle: string;
  readonly action: string;
  readonly isWide?: boolean;
  /** The queries that are out of date afterwards, even if it failed. */
  readonly changes: QueryKey;
  /** The fields of the form. */
  readonly children: ReactNode;
  act(form: FormData): Promise<Result>;
  /** Shows the secret, which lives in this dialog only and goes with it. */
  show(result: Result): ReactNode;
  onClose(): void;
}

/**
 * A form whose answer has a secret that is shown once. It is one dialog for both, so that the focus returns to the button
 * that opened it.
 */
export function SecretDialog<Result>(props: SecretDialogProps<Result>) {
  const { title, shownTitle, action, isWide = false, changes, children, act, show, onClose } = props;
  const create = useAction({
    mutationFn: act,
    changes: [changes],
  });
  const result = create.data;
  const isShown = result !== undefined;
  return (
    <ModalDialog title={isShown ? shownTitle : title} isWide={isWide} isKept={isShown} onClose={onClose}>
      {isShown ? (
        show(result)
      ) : (
        <DialogForm
          action={action}
          isPending={create.isPending}
          error={create.error}
          onClose={onClose}
          onSubmit={create.mutate}
        >
          {children}
        </DialogForm>
      )}
    </ModalDialog>
  );
}

/** Leaves what is shown once. */
export const DoneButton = ({ onPress }: { onPress: () => void }) => (
  <div className="actions">
    <Button kind="primary" onPress={onPress}>
      {text.done}
    </Button>
  </div>
);
