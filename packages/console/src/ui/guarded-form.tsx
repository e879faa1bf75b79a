import { text } from '#text/shared';
import {
  type ReactNode,
  type RefObject,
  useCallback,
  useContext,
  useEffect,
  useMemo,
  useRef,
  useState,
} from 'react';
import { flushSync } from 'react-dom';
import { Form } from 'react-aria-components';
import { Problem } from '../api/problem.ts';
import { Button } from './button.tsx';
import { isWorthKeeping, useLeaveQuestion } from './confirm-leaving.tsx';
import { describeFault, describeFaultAtField, findFaults, getFieldName } from './describe-fault.ts';
import { DialogBusyContext, FormStateContext } from './form-state.ts';
import { ProblemNote } from './problem-note.tsx';

interface GuardedFormProps {
  /** By which a button outside the form finds it. */
  readonly id?: string;
  readonly isPending: boolean;
  readonly error: unknown;
  /** What else went wrong, beside the error. */
  readonly faults?: ReactNode;
  readonly children: ReactNode;
  /** The buttons, below what went wrong. */
  readonly footer: ReactNode;
  onSubmit(form: FormData): void;
}

interface Sent {
  readonly names: ReadonlySet<string>;
  readonly form: FormData;
}

/** Sorts what the platform found wrong: by the name of the form's field, and in words where it has no field here. */
function sortFaults(error: unknown, sent: Sent | undefined) {
  const atFields: Record<string, string> = {};
  const others: string[] = [];
  for (const fault of error instanceof Problem ? findFaults(error) : []) {
    const name = getFieldName(fault);
    const typed = sent?.form.get(name);
    if (sent?.names.has(name))
      atFields[name] ??= describeFaultAtField(fault, typeof typed === 'string' ? typed : '');
    else others.push(describeFault(fault));
  }
  return { atFields, others };
}

/** Asks before another screen, or the browser, takes the place of what is typed and was not sent, or is being sent. */
function useTyped(form: RefObject<HTMLElement | null>, error: unknown, isPending: boolean) {
  const isTyped = useRef(false);
  const isSent = useRef(false);
  const isBusy = useRef(isPending);
  useEffect(() => {
    isBusy.current = isPending;
  }, [isPending]);
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
  const findReason = useCallback(() => {
    if (isBusy.current) return 'busy';
    return isTyped.current && !isSent.current ? 'typed' : undefined;
  }, []);
  return { send: () => void (isSent.current = true), question: useLeaveQuestion(findReason) };
}

/** Keeps the dialog that the form is in open while its change is under way. */
function useBusyDialog(isPending: boolean): void {
  const dialog = useContext(DialogBusyContext);
  useEffect(() => {
    if (!dialog || !isPending) return undefined;
    dialog.current = true;
    return () => void (dialog.current = false);
  }, [dialog, isPending]);
}

/**
 * Takes the marks from the fields once somebody presses a button that sends the form, or does something with it: the
 * browser would not send a field that is marked, although its value may be right by now, as when a name has become free.
 *
 * @returns whether the fields are marked with what the error says of them.
 */
function useMarks(form: RefObject<HTMLFormElement | null>, error: unknown): boolean {
  const [forgotten, setForgotten] = useState<unknown>(null);
  useEffect(() => {
    if (error === null) return undefined;
    const forget = ({ target }: Event): void => {
      const button = target instanceof Element ? target.closest('button') : null;
      const isOfForm = button?.form === form.current;
      if (isOfForm && (button?.type === 'submit' || button?.hasAttribute('form')))
        flushSync(() => setForgotten(error));
    };
    // A button acts when the pointer or the key is released, and Enter in a field clicks the one that sends.
    const events = ['pointerdown', 'keydown', 'click'];
    for (const name of events) window.addEventListener(name, forget, true);
    return () => {
      for (const name of events) window.removeEventListener(name, forget, true);
    };
  }, [form, error]);
  return forgotten !== error;
}

/** A form that is not sent before all of it is loaded, and shows at each field what the platform finds wrong with it. */
export function GuardedForm({ id, isPending, error, faults, children, footer, onSubmit }: GuardedFormProps) {
  const element = useRef<HTMLFormElement>(null);
  const isMarked = useMarks(element, error);
  const [sent, setSent] = useState<Sent>();
  const [loading, setLoading] = useState(0);
  const isReady = loading === 0;
  const wait = useCallback((count: 1 | -1) => setLoading((before) => before + count), []);
  const state = useMemo(() => ({ isReady, wait }), [isReady, wait]);

  const { atFields, others } = useMemo(() => sortFaults(error, sent), [error, sent]);
  const [first] = Object.keys(atFields);
  useEffect(() => {
    if (first === undefined) return;
    const named = element.current?.querySelector(`[name="${CSS.escape(first)}"]`);
    named?.closest('details')?.setAttribute('open', '');
    // The element with the name of a choice is hidden in its field, that of a number follows it.
    const field = named?.closest('.field') ?? named?.previousElementSibling;
    field?.querySelector<HTMLElement>(CONTROLS)?.focus();
  }, [first, error]);

  useBusyDialog(isPending);
  const typed = useTyped(element, error, isPending);
  return (
    <Form
      ref={element}
      {...(id !== undefined && { id })}
      className="form"
      validationErrors={isMarked ? atFields : NO_MARKS}
      onInvalid={unfold}
      onSubmit={(event) => {
        event.preventDefault();
        if (isPending || !isReady) return;
        typed.send();
        const form = new FormData(event.currentTarget);
        const names = [...event.currentTarget.elements].map((control) => control.getAttribute('name') ?? '');
        setSent({ names: new Set(names), form });
        onSubmit(form);
      }}
    >
      <FormStateContext value={state}>
        {children}
        <div className="form-foot">
          {faults}
          <ProblemNote
            error={error}
            instead={first === undefined ? undefined : [text.form.checkFields, ...others].join(' ')}
          />
          {footer}
        </div>
      </FormStateContext>
      {typed.question}
    </Form>
  );
}

/** Asks before another screen takes the place of what is typed in fields that are not sent anywhere. */
export function TypedFields({ children }: { children: ReactNode }) {
  const element = useRef<HTMLDivElement>(null);
  const { question } = useTyped(element, null, false);
  return (
    <div ref={element} className="form">
      {children}
      {question}
    </div>
  );
}

interface SubmitButtonProps {
  readonly kind?: 'primary' | 'danger';
  readonly isPending: boolean;
  readonly children: ReactNode;
}

/** Sends the form that it is in, once all of it is loaded. */
export const SubmitButton = ({ kind = 'primary', ...props }: SubmitButtonProps) => (
  <Button {...props} type="submit" kind={kind} isDisabled={!useContext(FormStateContext)?.isReady} />
);

/** The footer of a form that stands on a page. */
export const SaveButton = ({ isPending }: { isPending: boolean }) => (
  <div className="actions">
    <SubmitButton isPending={isPending}>{text.save}</SubmitButton>
  </div>
);

/** Unfolds what is wrong in a folded part: nobody could see why nothing is sent. */
const unfold = ({ target }: { readonly target: unknown }): void => {
  if (target instanceof Element) target.closest('details')?.setAttribute('open', '');
};

const NO_MARKS = {};
const CONTROLS = 'input:not([type=hidden], [tabindex="-1"]), textarea, button';
