import { text } from '#text/shared';
import { type ReactNode, useState } from 'react';
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
  const error = useLastError(query);
  if (query.data !== undefined)
    return (
      <>
        <ProblemNote error={query.error} />
        {children(query.data)}
      </>
    );
  if (error === null) return <Loading />;
  if (error instanceof Problem && error.status === 404)
    return <Empty title={error.message}>{text.notFound.advice}</Empty>;
  return (
    <div className="empty">
      <ProblemNote error={error} />
      <Button isPending={query.isPending} onPress={() => void query.refetch()}>
        {text.tryAgain}
      </Button>
    </div>
  );
}

/** Returns why it could not be read, while it is read again as well: what is shown does not flicker. */
function useLastError({ error, isPending }: Query<unknown>): unknown {
  const [last, setLast] = useState(error);
  if (last !== error && !isPending) setLast(error);
  return isPending ? last : error;
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
