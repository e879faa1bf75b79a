import { type RefObject, useEffect } from 'react';

/**
 * Moves the focus to the screen when what had it is gone, such as a row that was removed: the next Tab would start at the
 * top of the page otherwise.
 */
export function useKeptFocus(screen: RefObject<HTMLElement | null>): void {
  useEffect(() => {
    const { current: main } = screen;
    if (!main) return undefined;
    let last: EventTarget | null = null;
    const remember = (event: FocusEvent): void => {
      last = event.target;
    };
    const keep = (): void => {
      const isLost = last instanceof Node && !last.isConnected && document.activeElement === document.body;
      if (isLost) main.focus({ preventScroll: true });
    };
    // A list that was rebuilt, and a dialog that closes, give the focus back by themselves within a frame.
    const observer = new MutationObserver(() => requestAnimationFrame(() => requestAnimationFrame(keep)));
    observer.observe(main, { childList: true, subtree: true });
    main.addEventListener('focusin', remember);
    return () => {
      observer.disconnect();
      main.removeEventListener('focusin', remember);
    };
  }, [screen]);
}
