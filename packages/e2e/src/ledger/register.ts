import type { Outcome } from './history.js';

/** An operation on a register: a variable that is written and read as a whole. */
export interface RegisterOperation {
  readonly type: 'read' | 'write';
  /** What it has read or written; each write has a value of its own. */
  readonly value: unknown;
  readonly startedAt: number;
  /** Ignored for a write with an indeterminate outcome, which may still be done long after. */
  readonly endedAt: number;
  readonly outcome: Outcome;
}

/**
 * Looks for an order of the operations in which each read returns the value that was written last, and in which an operation
 * that ended before another began comes first (linearizability; the search is that of Wing and Gong, with the memory of Lowe).
 *
 * A refused operation was not done; one with an indeterminate outcome was done at some time after its beginning, or never.
 *
 * @returns undefined when there is such an order; otherwise the operation at which every order fails.
 */
export function findViolation(
  operations: readonly RegisterOperation[],
  initial: unknown,
): RegisterOperation | undefined {
  const seen = new Set(operations.filter(({ type }) => type === 'read').map(({ value }) => value));
  const relevant = operations
    .filter(({ type, outcome, value }) =>
      // A write that nobody knows about and nobody has read may as well have never been done.
      type === 'read'
        ? outcome === 'ok'
        : outcome === 'ok' || (outcome === 'indeterminate' && seen.has(value)),
    )
    .map((operation) => ({
      ...operation,
      endedAt: operation.outcome === 'ok' ? operation.endedAt : Number.POSITIVE_INFINITY,
    }))
    .toSorted((a, b) => a.startedAt - b.startedAt);

  /** The operations up to `from` are in the order, and so are those of `ahead`, which come later. */
  interface State {
    readonly from: number;
    readonly ahead: ReadonlySet<number>;
    readonly value: unknown;
  }
  const toKey = ({ from, ahead, value }: State): string =>
    `${from} ${[...ahead].toSorted((a, b) => a - b).join()} ${JSON.stringify(value)}`;
  const tried = new Set<string>();
  let furthest = -1;
  const open: State[] = [{ from: 0, ahead: new Set(), value: initial }];
  for (let state = open.pop(); state !== undefined; state = open.pop()) {
    if (tried.has(toKey(state))) continue;
    tried.add(toKey(state));
    furthest = Math.max(furthest, state.from);
    if (state.from === relevant.length) return undefined;
    open.push(...listNext(state));
  }
  return relevant[furthest];

  /** Lists the states after each operation that may come next: it began before any other one of those left had ended. */
  function listNext({ from, ahead, value }: State): State[] {
    const next: State[] = [];
    let firstEnd = Number.POSITIVE_INFINITY;
    for (let index = from; index < relevant.length; index += 1) {
      const operation = relevant[index] as RegisterOperation;
      if (operation.startedAt > firstEnd) break;
      if (ahead.has(index)) continue;
      firstEnd = Math.min(firstEnd, operation.endedAt);
      if (operation.type === 'read' && operation.value !== value) continue;
      next.push(skipDone(from, new Set([...ahead, index]), operation.value));
    }
    return next;
  }

  function skipDone(from: number, ahead: Set<number>, value: unknown): State {
    let first = from;
    while (ahead.delete(first)) first += 1;
    return { from: first, ahead, value };
  }
}
