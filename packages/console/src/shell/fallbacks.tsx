import { text } from '#text/shared';
import { useRouter } from '@tanstack/react-router';
import { type ReactNode, useCallback, useEffect } from 'react';
import { useMe } from '../api/me.ts';
import { isTemporary, RECOVERY_MS } from '../api/queries.ts';
import { Button } from '../ui/button.tsx';
import { Page } from '../ui/page.tsx';
import { ProblemNote } from '../ui/problem-note.tsx';

interface CrashProps {
  readonly error: unknown;
  reset(): void;
}

/** Returns what shows the page again. When the platform was away, that is done as soon as it is back. */
function useRetry({ error, reset }: CrashProps): () => void {
  const router = useRouter();
  const retry = useCallback(() => {
    reset();
    void router.invalidate();
  }, [reset, router]);
  useEffect(() => {
    if (!isTemporary(error)) return undefined;
    const timer = setInterval(retry, RECOVERY_MS);
    return () => clearInterval(timer);
  }, [error, retry]);
  return retry;
}

export function CrashPage(props: CrashProps) {
  const retry = useRetry(props);
  return (
    <main className="crash">
      <h1>{text.crash}</h1>
      <ProblemNote error={props.error} />
      <Button onPress={retry}>{text.tryAgain}</Button>
    </main>
  );
}

/** A screen that failed while it was shown, inside the shell. */
export function ScreenCrash(props: CrashProps) {
  const retry = useRetry(props);
  return (
    <Page title={text.crash}>
      <div className="empty">
        <ProblemNote error={props.error} />
        <Button onPress={retry}>{text.tryAgain}</Button>
      </div>
    </Page>
  );
}

/** Shown to a member at the address of an administrators' screen. The API refuses members in any case. */
export function AdminsOnly({ children }: { children: ReactNode }) {
  if (useMe().role === 'admin') return children;
  return <Page title={text.adminsOnly.title} intro={text.adminsOnly.advice} />;
}
