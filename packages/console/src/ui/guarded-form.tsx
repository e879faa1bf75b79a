import { text } from '#text/shared';
import { type ReactNode, useEffect, useMemo, useRef, useState } from 'react';
import { Form } from 'react-aria-components';
import { Problem } from '../api/problem.ts';
import { Button } from './button.tsx';
import { describeFaultAtField, getFieldName } from './describe-fault.ts';
import { ProblemNote } from './problem-note.tsx';

interface GuardedFormProps {
  /** By which a button outside the form finds it. */
  readonly id?: string;
  readonly isPending: boolean;
  readonly error: unknown;
  readonly children: ReactNode;
  /** The buttons, below what went wrong. */
  readonly footer: ReactNode;
  onSubmit(form: FormData): void;
}

interface Sent {
  readonly names: ReadonlySet<string>;
  readonly form: FormData;
}

/** Returns what the platform found wrong, by the name of the form's field; undefined if a fault has no field here. */
function toFieldFaults(error: unknown, sent: Sent | undefined): Record<string, string> | undefined {
  if (!(error instanceof Problem) || !sent || error.details.length === 0) return undefined;
  const faults: Record<string, string> = {};
  for (const detail of error.details) {
    const name = getFieldName(detail);
    if (name === '' || !sent.names.has(name)) return undefined;
    const typed = sent.form.get(name);
    faults[name] ??= describeFaultAtField(detail, typeof typed === 'string' ? typed : '');
  }
  return faults;
}

/** A form that is sent once, however often it is submitted, and shows at each field what the platform finds wrong with it. */
export function GuardedForm({ id, isPending, error, children, footer, onSubmit }: GuardedFormProps) {
  const element = useRef<HTMLFormElement>(null);
  // A double click submits twice before anything is rendered.
  const isBusy = useRef(false);
  const [sent, setSent] = useState<Sent>();
  useEffect(() => {
    if (!isPending) isBusy.current = false;
  }, [isPending, error]);

  const faults = useMemo(() => toFieldFaults(error, sent), [error, sent]);
  useEffect(() => {
    const [first] = Object.keys(faults ?? {});
    if (first === undefined) return;
    const field = element.current?.querySelector<HTMLElement>(`[name="${CSS.escape(first)}"]`);
    field?.closest('details')?.setAttribute('open', '');
    field?.focus();
  }, [faults]);

  return (
    <Form
      ref={element}
      {...(id !== undefined && { id })}
      className="form"
      validationErrors={faults ?? NO_FAULTS}
      onSubmit={(event) => {
        event.preventDefault();
        if (isBusy.current || isPending) return;
        isBusy.current = true;
        const form = new FormData(event.currentTarget);
        const names = [...event.currentTarget.elements].map((control) => control.getAttribute('name') ?? '');
        setSent({ names: new Set(names), form });
        onSubmit(form);
      }}
    >
      {children}
      <ProblemNote error={error} instead={faults && text.form.checkFields} />
      {footer}
    </Form>
  );
}

/** The footer of a form that stands on a page. */
export const SaveButton = ({ isPending }: { isPending: boolean }) => (
  <div className="actions">
    <Button type="submit" kind="primary" isPending={isPending}>
      {text.save}
    </Button>
  </div>
);

const NO_FAULTS = {};
