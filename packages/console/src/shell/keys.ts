import { useEffect } from 'react';

export const JUMP_KEYS = /Mac|iPhone|iPad/.test(navigator.userAgent) ? '⌘ K' : 'Ctrl K';

const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement &&
  (target.isContentEditable || /^(?:INPUT|TEXTAREA|SELECT)$/.test(target.tagName));

/** Which part of the console the keys open; undefined for all other keys. */
function readKeys({
  key,
  ctrlKey,
  metaKey,
  altKey,
  target,
}: KeyboardEvent): 'palette' | 'shortcuts' | undefined {
  if (key.toLowerCase() === 'k' && (ctrlKey || metaKey)) return 'palette';
  return key === '?' && !ctrlKey && !metaKey && !altKey && !isTyping(target) ? 'shortcuts' : undefined;
}

/** Calls back when Ctrl-K or ⌘K is pressed anywhere, or `?` where nothing is typed. */
export function useKeys(open: (part: 'palette' | 'shortcuts') => void): void {
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      const part = readKeys(event);
      // A dialog that is open keeps the keyboard.
      if (part === undefined || document.querySelector('[role=dialog], [role=alertdialog]')) return;
      event.preventDefault();
      open(part);
    };
    window.addEventListener('keydown', onKey);
    return () => window.removeEventListener('keydown', onKey);
  }, [open]);
}
