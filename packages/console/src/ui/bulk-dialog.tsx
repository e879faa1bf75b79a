import type { QueryKey } from '@tanstack/react-query';
import { text } from '#text/shared';
import { type ReactNode, useState } from 'react';
import { Problem } from '../api/problem.ts';
import { announce } from './announcements.tsx';
import { FormDialog } from './dialogs.tsx';
import { explainProblem } from './problem-note.tsx';
import { useAction } from './use-action.ts';

interface BulkDialogProps<Item> {
  readonly title: string;
  readonly action: string;
  /** The label of the button that leaves; “Cancel” by default. */
  readonly leave?: string;
  readonly isDangerous?: boolean;
  readonly items: readonly Item[];
  /** The queries that are out of date afterwards, even if some failed. */
  readonly changes: QueryKey;
  readonly children: ReactNode;
  getName(item: Item): string;
  act(item: Item, form: FormData): Promise<unknown>;
  /** Returns what is announced once all are done. */
  describe(count: number): string;
  onClose(): void;
}

const SHOWN = 5;

/** Whether the next item would fail with it as well. */
const isOfAll = (error: unknown): boolean =>
  !(error instanceof Problem) ||
  error.status === 0 ||
  error.status === 401 ||
  error.status === 429 ||
  error.code === 'CONFIRMATION_REQUIRED';

/** Does one thing to several items, one after the other. It stays open while some are left, and says why. */
export function BulkDialog<Item>({
  items,
  changes,
  children,
  act,
  describe,
  ...dialog
}: BulkDialogProps<Item>) {
  const { getName, onClose } = dialog;
  const [left, setLeft] = useState(items);
  const [failed, setFailed] = useState<readonly string[]>([]);
  const change = useAction({
    async mutationFn(form: FormData) {
      setFailed([]);
      const refused: Item[] = [];
      for (const [index, item] of left.entries()) {
        try {
          await act(item, form);
        } catch (error) {
          refused.push(item);
          if (isOfAll(error)) {
            setLeft([...refused, ...left.slice(index + 1)]);
            throw error;
          }
          setFailed((previous) => [...previous, `${getName(item)}: ${explainProblem(error)}`]);
        }
      }
      setLeft(refused);
      return left.length - refused.length;
    },
    onSuccess(count) {
      if (count > 0) announce(describe(count));
    },
    onDone(count) {
      if (count === left.length) onClose();
    },
    changes: [changes],
  });
  return (
    <FormDialog
      {...dialog}
      isPending={change.isPending}
      error={change.error}
      faults={failed.length > 0 && <Failed faults={failed} />}
      onSubmit={change.mutate}
    >
      <ul className="reasons">
        {left.slice(0, SHOWN).map((item) => (
          <li key={items.indexOf(item)}>{getName(item)}</li>
        ))}
        {left.length > SHOWN && <li>{text.andMore(left.length - SHOWN)}</li>}
      </ul>
      {children}
    </FormDialog>
  );
}

const Failed = ({ faults }: { faults: readonly string[] }) => (
  <div className="problem" role="alert">
    {faults.map((words, index) => (
      // Two of them may say the same of equal names.
      <p key={index}>{words}</p>
    ))}
  </div>
);
