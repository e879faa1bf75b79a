import { useSyncExternalStore } from 'react';
import { CheckIcon } from './icons.tsx';

const SHOWN_MS = 8_000;
const listeners = new Set<() => void>();
let message = '';
let timer: ReturnType<typeof setTimeout> | undefined;

function show(next: string): void {
  message = next;
  for (const notify of listeners) notify();
}

/** Confirms what was done, in a corner, without taking the focus. */
export function announce(next: string): void {
  clearTimeout(timer);
  timer = setTimeout(() => show(''), SHOWN_MS);
  show(next);
}

function subscribe(notify: () => void): () => void {
  listeners.add(notify);
  return () => listeners.delete(notify);
}

/**
 * It is always there, because screen readers announce only what changes in a region that they know; the attribute keeps
 * it known to them while a dialog hides the rest of the page.
 */
export function Announcements() {
  const shown = useSyncExternalStore(subscribe, () => message);
  return (
    <output className="announcements" data-react-aria-top-layer>
      {shown !== '' && (
        <>
          <CheckIcon />
          <span>{shown}</span>
        </>
      )}
    </output>
  );
}
