import { text } from '#text/shared';
import type { ReactNode } from 'react';
import { Badge } from './badge.tsx';
import { ProblemNote } from './problem-note.tsx';

/** Says that a test of another server is under way, which may take half a minute. */
export const Testing = ({ isPending }: { isPending: boolean }) =>
  isPending && (
    <p className="hint" role="status">
      {text.testing}
    </p>
  );

interface TestSectionProps {
  /** The buttons. */
  readonly actions: ReactNode;
  readonly isPending: boolean;
  readonly error: Error | null;
  /** What became of the test; undefined before it. */
  readonly result:
    | { readonly isGood: boolean; readonly label: string; readonly details: ReactNode }
    | undefined;
}

/** Tests another server, and shows what became of it. */
export const TestSection = ({ actions, isPending, error, result }: TestSectionProps) => (
  <div className="server-test">
    <div className="actions">{actions}</div>
    <Testing isPending={isPending} />
    <ProblemNote error={error} />
    {result && (
      <p role="status">
        <Badge tone={result.isGood ? 'good' : 'bad'}>{result.label}</Badge> {result.details}
      </p>
    )}
  </div>
);
