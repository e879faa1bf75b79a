import { text } from '#text/shared';
import { type ComponentType, useCallback, useEffect, useState } from 'react';
import { Problem } from '../api/problem.ts';
import { RECOVERY_MS } from '../api/queries.ts';
import { Button } from './button.tsx';
import { ProblemNote } from './problem-note.tsx';

/**
 * A screen or a part of one, such as a dialog, whose code is loaded when it is first shown. When that fails it says so in
 * its own place, and tries again when it is asked to, the network returns or some seconds have passed: nothing else on the page is lost.
 */
export function lazyPart<Props extends object>(load: () => Promise<ComponentType<Props>>) {
  let loaded: ComponentType<Props> | undefined;

  async function loadPart(): Promise<ComponentType<Props>> {
    // A browser may remember that an import failed, so none is tried without a network.
    if (!navigator.onLine) throw new Problem(0, 'OFFLINE', '', { isRead: true });
    try {
      return (loaded ??= await load());
    } catch {
      throw new Problem(0, 'NOT_LOADED', '', { isRead: true });
    }
  }

  function LazyPart(props: Props) {
    const [Part, setPart] = useState(() => loaded);
    const [error, setError] = useState<unknown>(null);
    const start = useCallback(() => {
      // What went wrong is shown until it is known to be over.
      loadPart().then((part) => setPart(() => part), setError);
    }, []);
    useEffect(() => {
      if (!loaded) start();
    }, [start]);
    useEffect(() => {
      if (error === null) return undefined;
      window.addEventListener('online', start);
      const timer = setInterval(start, RECOVERY_MS);
      return () => {
        window.removeEventListener('online', start);
        clearInterval(timer);
      };
    }, [error, start]);
    if (Part) return <Part {...props} />;
    if (error === null) return null;
    const close = 'onClose' in props ? (props.onClose as () => void) : undefined;
    return <PartFault error={error} onRetry={start} onClose={close} />;
  }
  // The router calls it before it shows a screen; what goes wrong is said by the screen itself.
  return Object.assign(LazyPart, { preload: () => loadPart().then(noop, noop) });
}

const noop = (): void => undefined;

interface PartFaultProps {
  readonly error: unknown;
  onRetry(): void;
  /** Closes the dialog that could not be loaded; undefined for what is not one. */
  onClose: (() => void) | undefined;
}

/** A dialog of the browser's own: the code of the console's may be what could not be loaded. */
function PartFault({ error, onRetry, onClose }: PartFaultProps) {
  const content = (
    <>
      <ProblemNote error={error} />
      <div className="actions">
        {onClose && <Button onPress={onClose}>{text.close}</Button>}
        <Button onPress={onRetry}>{text.tryAgain}</Button>
      </div>
    </>
  );
  if (!onClose) return <div className="empty">{content}</div>;
  return (
    <dialog
      className="part-fault"
      aria-label={text.notLoaded}
      onClose={onClose}
      ref={(dialog) => {
        dialog?.showModal();
        return () => dialog?.close();
      }}
    >
      {content}
    </dialog>
  );
}
