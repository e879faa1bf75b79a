import { createWriteStream } from 'node:fs';
import { finished } from 'node:stream/promises';
import type { PastFault } from './faults.js';

/**
 * `ok`: it was done. `refused`: it was not. `indeterminate`: nobody knows, because there was no answer, or one that says as
 * much.
 */
export type Outcome = 'ok' | 'refused' | 'indeterminate';

/** What an operation does to its object. */
export interface Act {
  /** The intent of the caller, such as `token: revoke`. */
  readonly kind: string;
  /** What it is about, such as `token 7` or `schedule db_1`; undefined for a request that no check is about. */
  readonly object?: string | undefined;
  /** What it writes there. */
  readonly value?: unknown;
}

/** One operation of the workload: a request and its answer. */
export interface Operation extends Act {
  /** Milliseconds of a clock that isn't set meanwhile. */
  readonly startedAt: number;
  readonly endedAt: number;
  readonly outcome: Outcome;
  /** 0 when there was no response. */
  readonly status: number;
  readonly code: string | undefined;
  /** What it has read or written. */
  readonly value?: unknown;
}

export type History = ReturnType<typeof openHistory>;

/** Returns milliseconds since 1970 that never jump, so that the order of two times is that of the events. */
const readClock = (): number => performance.timeOrigin + performance.now();

/** Keeps the operations, and writes a line of JSON to the file for the beginning and for the end of each. */
export function openHistory(file: string) {
  const operations: Operation[] = [];
  const stream = createWriteStream(file);
  let ids = 0;
  const write = (line: object): void => void stream.write(`${JSON.stringify(line)}\n`);
  return {
    file,
    operations: operations as readonly Operation[],
    /** Begins an operation. @returns the function that ends it. */
    begin(act: Act) {
      const id = (ids += 1);
      const startedAt = readClock();
      write({ event: 'invoke', id, at: startedAt, ...act });
      return (end: Pick<Operation, 'outcome' | 'status' | 'code' | 'value'>): Operation => {
        const operation = { ...act, ...end, startedAt, endedAt: readClock() };
        write({ event: 'return', id, at: operation.endedAt, object: act.object, kind: act.kind, ...end });
        operations.push(operation);
        return operation;
      };
    },
    addFault: (fault: PastFault): void => write({ event: 'fault', ...fault }),
    async close(): Promise<void> {
      stream.end();
      await finished(stream);
    },
  };
}
