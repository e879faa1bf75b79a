import { text } from '#text/shared';
import { type ParsedLocation, useBlocker } from '@tanstack/react-router';
import { type ReactNode, type RefObject, useCallback, useEffect, useMemo, useRef, useState } from 'react';
import { Form } from 'react-aria-components';
import { Problem } from '../api/problem.ts';
import { Button } from './button.tsx';
import { ConfirmLeaving, isWorthKeeping } from './confirm-leaving.tsx';
import { describeFaultAtField, getFieldName } from './describe-fault.ts';
import { isMainDialog } from './main-dialog.ts';
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

type Address = Pick<ParsedLocation<Record<string, string>>, 'pathname' | 'search'>;

interface Step {
  readonly action: string;
  readonly current: Address;
  readonly next: Address;
}

/**
 * Whether a step takes the form away. The filters of a screen are in its address, too, and its main dialog, which closes
 * itself by replacing the address: any other step that closes it comes from outside, such as the Back of the browser.
 */
const isLeaving = ({ action, current, next }: Step): boolean =>
  current.pathname !== next.pathname ||
  (action !== 'REPLACE' && isMainDialog(current.search) && !isMainDialog(next.search));

/** Asks before another screen, or the browser, takes the place of what is typed and was not sent. */
function useTyped(form: RefObject<HTMLFormElement | null>, error: unknown) {
  const isTyped = useRef(false);
  const isSent = useRef(false);
  useEffect(() => {
    const note = (event: Event): void => {
      if (!isWorthKeeping(event)) return;
      isTyped.current = true;
      isSent.current = false;
    };
    const element = form.current;
    element?.addEventListener('input', note);
    return () => element?.removeEventListener('input', note);
  }, [form]);
  useEffect(() => {
    if (error !== null) isSent.current = false;
  }, [error]);
  const isKept = useCallback(() => isTyped.current && !isSent.current, []);
  const shouldBlockFn = useCallback((step: Step) => isKept() && isLeaving(step), [isKept]);
  const blocker = useBlocker({ shouldBlockFn, enableBeforeUnload: isKept, withResolver: true });
  return {
    send: () => void (isSent.current = true),
    question: blocker.status === 'blocked' && (
      <ConfirmLeaving onStay={blocker.reset} onLeave={blocker.proceed} />
    ),
  };
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
    const named = element.current?.querySelector(`[name="${CSS.escape(first)}"]`);
    named?.closest('details')?.setAttribute('open', '');
    // The element with the name of a choice is hidden in its field, that of a number follows it.
    const field = named?.closest('.field') ?? named?.previousElementSibling;
    field?.querySelector<HTMLElement>(CONTROLS)?.focus();
  }, [faults]);

  const typed = useTyped(element, error);
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
        typed.send();
        const form = new FormData(event.currentTarget);
        const names = [...event.currentTarget.elements].map((control) => control.getAttribute('name') ?? '');
        setSent({ names: new Set(names), form });
        onSubmit(form);
      }}
    >
      {children}
      <ProblemNote error={error} instead={faults && text.form.checkFields} />
      {footer}
      {typed.question}
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
const CONTROLS = 'input:not([type=hidden], [tabindex="-1"]), textarea, button';
