import { useBlocker } from '@tanstack/react-router';
import { useCallback, useEffect, useRef } from 'react';

/**
 * Makes the browser's Back close what lies over a screen, such as a dialog, instead of leaving the screen.
 *
 * @param close - returns false to let Back leave the screen all the same.
 */
export function useBack(close: () => boolean | void): void {
  const latest = useRef(close);
  useEffect(() => {
    latest.current = close;
  });
  const shouldBlockFn = useCallback(
    ({ action }: { readonly action: string }) => action === 'BACK' && latest.current() !== false,
    [],
  );
  useBlocker({ shouldBlockFn, enableBeforeUnload: false });
}
