import { text } from '#text/shared';
import type { ReactNode } from 'react';
import { Problem } from '../api/problem.ts';
import { Button } from './button.tsx';
import { Empty } from './page.tsx';
import { useFormWait } from './form-state.ts';
import { ProblemNote } from './problem-note.tsx';

interface Query<Data> {
  readonly data: Data | undefined;
  readonly error: unknown;
  readonly isPending: boolean;
  refetch(): unknown;
}

/**
 * Shows that something loads, why it could not be loaded, or what it is. A form that it is in can't be sent before it is
 * there.
 */
export function QueryView<Data>({
  query,
  children,
}: {
  query: Query<Data>;
  children: (data: Data) => ReactNode;
}) {
  useFormWait(query.data === undefined);
  if (query.data !== undefined)
    return (
      <>
        <ProblemNote error={query.error} />
        {children(query.data)}
      </>
    );
  if (query.isPending) return <Loading />;
  if (query.error instanceof Problem && query.error.status === 404)
    return <Empty title={query.error.message}>{text.notFound.advice}</Empty>;
  return (
    <div className="empty">
      <ProblemNote error={query.error} />
      <Button onPress={() => void query.refetch()}>{text.tryAgain}</Button>
    </div>
  );
}

/** Rows without content. They appear after a moment only, so that quick answers don't flicker. */
export const Loading = () => (
  <div role="status">
    <span className="unseen">{text.loading}</span>
    <div className="skeleton" aria-hidden="true">
      <i />
      <i />
      <i />
      <i />
      <i />
    </div>
  </div>
);

/** A line without content, in place of a line that is being loaded. */
export const LoadingLine = () => (
  <span className="skeleton line" role="status">
    <span className="unseen">{text.loading}</span>
  </span>
);
