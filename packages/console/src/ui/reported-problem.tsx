import { text } from '#text/shared';
import { useSyncExternalStore } from 'react';
import { Button } from './button.tsx';
import { explainProblem } from './problem-note.tsx';

const listeners = new Set<() => void>();
let message = '';

function show(next: string): void {
  message = next;
  for (const notify of listeners) notify();
}

function subscribe(notify: () => void): () => void {
  listeners.add(notify);
  return () => listeners.delete(notify);
}

/** Says what went wrong with something that has no form. It stays until it is dismissed, or another page is opened. */
export const reportProblem = (problem: unknown): void =>
  show(typeof problem === 'string' ? problem : explainProblem(problem));

export const dismissProblem = (): void => show('');

export function ReportedProblem() {
  const shown = useSyncExternalStore(subscribe, () => message);
  if (shown === '') return null;
  return (
    <div className="banner bad" role="alert">
      <span>{shown}</span>
      <Button onPress={dismissProblem}>{text.dismiss}</Button>
    </div>
  );
}
