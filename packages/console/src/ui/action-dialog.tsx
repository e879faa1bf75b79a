import { type QueryKey, useMutation, useQueryClient } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { announce } from './announcements.tsx';
import { FormDialog } from './dialogs.tsx';

interface ActionDialogProps<Result> {
  readonly title: string;
  /** The label of the button that does it. */
  readonly action: string;
  readonly isDangerous?: boolean;
  readonly isWide?: boolean;
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

/** A dialog that makes one change, says that it was made, and closes. */
export function ActionDialog<Result>(props: ActionDialogProps<Result>) {
  const { title, action, isDangerous = false, isWide = false, changes, children } = props;
  const { act, describe, onClose, onDone = onClose } = props;
  const client = useQueryClient();
  const change = useMutation({
    mutationFn: act,
    onSuccess: (result) => {
      announce(describe(result));
      onDone();
    },
    onSettled: () => client.invalidateQueries({ queryKey: changes }),
  });
  return (
    <FormDialog
      title={title}
      action={action}
      isDangerous={isDangerous}
      isWide={isWide}
      isPending={change.isPending}
      error={change.error}
      onClose={onClose}
      onSubmit={(form) => change.mutate(form)}
    >
      {children}
    </FormDialog>
  );
}
