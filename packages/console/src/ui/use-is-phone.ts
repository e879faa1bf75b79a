import { useSyncExternalStore } from 'react';

const query = window.matchMedia('(width < 800px)');

function subscribe(notify: () => void): () => void {
  query.addEventListener('change', notify);
  return () => query.removeEventListener('change', notify);
}

/** Whether the page is as narrow as that of a phone; the style sheets have the same limit. */
export const useIsPhone = (): boolean => useSyncExternalStore(subscribe, () => query.matches);
