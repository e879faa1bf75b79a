import { createContext, useContext, useEffect } from 'react';

interface FormState {
  /** Whether everything that the form shows is loaded. */
  readonly isReady: boolean;
  /** Adds to what is still being loaded. */
  wait(count: 1 | -1): void;
}

/** The form that a part is in. */
export const FormStateContext = createContext<FormState | undefined>(undefined);

/** Keeps the form from being sent while a part of it isn't loaded: what it would choose is not in the form yet. */
export function useFormWait(isWaiting: boolean): void {
  const wait = useContext(FormStateContext)?.wait;
  useEffect(() => {
    if (!isWaiting || !wait) return undefined;
    wait(1);
    return () => wait(-1);
  }, [isWaiting, wait]);
}

/** Whether a dialog holds a form whose change is under way, so that it must not be closed. */
export const DialogBusyContext = createContext<{ current: boolean } | undefined>(undefined);
