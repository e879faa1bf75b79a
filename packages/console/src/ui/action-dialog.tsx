import type { QueryKey } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { announce } from './announcements.tsx';
import { DialogForm, ModalDialog } from './dialogs.tsx';
import { useAction } from './use-action.ts';

interface ActionFormProps<Result> {
  /** The label of the button that does it. */
  readonly action: string;
  /** The label of the button that leaves; “Cancel” by default. */
  readonly leave?: string;
  readonly isDangerous?: boolean;
  /** The queries that are out of date afterwards, even if it failed. */
  readonly changes: QueryKey;
  readonly children: ReactNode;
  act(form: FormData): Promise<Result>;
  /** Returns what is announced once it is done. */
  describe(result: Result): string;
  onClose(): void;
  /** Is called instead of `onClose` once the action is done. */
  onDone?(): void;
}

/** A form in a dialog that makes one change, says that it was made, and closes the dialog. */
export function ActionForm<Result>(props: ActionFormProps<Result>) {
  const { changes, act, describe, onDone, ...form } = props;
  const change = useAction({
    mutationFn: act,
    onSuccess: (result) => announce(describe(result)),
    onDone: onDone ?? form.onClose,
    changes: [changes],
  });
  return <DialogForm {...form} isPending={change.isPending} error={change.error} onSubmit={change.mutate} />;
}

interface ActionDialogProps<Result> extends ActionFormProps<Result> {
  readonly title: string;
  readonly isWide?: boolean;
}

/** A dialog that makes one change, says that it was made, and closes. */
export const ActionDialog = <Result,>({ title, isWide = false, ...form }: ActionDialogProps<Result>) => (
  <ModalDialog title={title} isWide={isWide} onClose={form.onClose}>
    <ActionForm {...form} />
  </ModalDialog>
);
