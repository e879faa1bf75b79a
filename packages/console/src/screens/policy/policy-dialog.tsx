import type { QueryKey } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { announce } from '../../ui/announcements.tsx';
import { ModalDialog } from '../../ui/dialogs.tsx';
import { useAction } from '../../ui/use-action.ts';

interface Step {
  readonly isPending: boolean;
  readonly error: unknown;
}

export interface PolicyFormProps<Policy> extends Step {
  readonly policy: Policy;
  onClose(): void;
  onCheck(next: Policy): void;
}

interface PolicyDialogProps<Policy, Effect> {
  readonly title: string;
  readonly policy: Policy;
  /** The queries that are out of date afterwards, even if it failed. */
  readonly changes: readonly QueryKey[];
  /** Returns what the policy would do, and saves nothing. */
  check(next: Policy): Promise<Effect>;
  save(next: Policy): Promise<Effect>;
  /** Returns what is announced once it is saved. */
  describe(saved: Effect): string;
  renderForm(props: PolicyFormProps<Policy>): ReactNode;
  renderEffect(props: Step & { effect: Effect; onBack(): void; onSave(): void }): ReactNode;
  onClose(): void;
}

/** Changes a policy in two steps: what it should be, then what that does to what there is. */
export function PolicyDialog<Policy, Effect>(props: PolicyDialogProps<Policy, Effect>) {
  const { title, policy, changes, describe, renderForm, renderEffect, onClose } = props;
  // Kept here, so that going back loses nothing.
  const [draft, setDraft] = useState(policy);
  const check = useAction({ mutationFn: props.check });
  const save = useAction({
    mutationFn: () => props.save(draft),
    onSuccess: (saved) => announce(describe(saved)),
    onDone: onClose,
    changes,
  });
  return (
    <ModalDialog title={title} isWide onClose={onClose}>
      {check.data === undefined
        ? renderForm({
            policy: draft,
            isPending: check.isPending,
            error: check.error,
            onClose,
            onCheck(next) {
              setDraft(() => next);
              check.mutate(next);
            },
          })
        : renderEffect({
            effect: check.data,
            isPending: save.isPending,
            error: save.error,
            onBack() {
              save.reset();
              check.reset();
            },
            onSave: () => save.mutate(),
          })}
    </ModalDialog>
  );
}
