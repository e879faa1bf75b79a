import { text } from '#text/shared';
import type { ReactNode } from 'react';
import { useMe } from '../api/me.ts';
import { Button } from '../ui/button.tsx';
import { Page } from '../ui/page.tsx';
import { ProblemNote } from '../ui/problem-note.tsx';

export const CrashPage = ({ error, reset }: { error: unknown; reset: () => void }) => (
  <main className="crash">
    <h1>{text.crash}</h1>
    <ProblemNote error={error} />
    <Button onPress={reset}>{text.tryAgain}</Button>
  </main>
);

/** A screen that failed while it was shown, inside the shell. */
export const ScreenCrash = ({ error, reset }: { error: unknown; reset: () => void }) => (
  <Page title={text.crash}>
    <div className="empty">
      <ProblemNote error={error} />
      <Button onPress={reset}>{text.tryAgain}</Button>
    </div>
  </Page>
);

/** Shown to a member at the address of an administrators' screen. The API refuses members in any case. */
export function AdminsOnly({ children }: { children: ReactNode }) {
  if (useMe().role === 'admin') return children;
  return <Page title={text.adminsOnly.title} intro={text.adminsOnly.advice} />;
}
