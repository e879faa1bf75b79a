import { type RefObject, useEffect, useRef, useState } from 'react';

const listeners = new WeakMap<Element, (isVisible: boolean) => void>();
/** One for all, because a list has hundreds of rows. */
const observer = new IntersectionObserver(
  (entries) => entries.forEach(({ target, isIntersecting }) => listeners.get(target)?.(isIntersecting)),
  { rootMargin: '200px' },
);

/** Whether an element is in the window, or nearly: otherwise it need not be kept up to date. */
export function useIsVisible(): readonly [ref: RefObject<HTMLSpanElement | null>, isVisible: boolean] {
  const ref = useRef<HTMLSpanElement>(null);
  const [isVisible, setVisible] = useState(false);
  useEffect(() => {
    const element = ref.current;
    if (!element) return undefined;
    listeners.set(element, setVisible);
    observer.observe(element);
    return () => observer.unobserve(element);
  }, []);
  return [ref, isVisible];
}
