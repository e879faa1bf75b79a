import { type Clock, createBatchWriter, type Logger } from '@platform/service-kit';
import type pg from 'pg';
import { createAuditId } from '../../audit/record.sql.js';
import { type FailedSignIn, insertFailedSignIns, type StoredFailure } from './failed-sign-ins.sql.js';

export function createFailedSignIns(deps: {
  readonly pool: pg.Pool;
  readonly clock: Clock;
  readonly log: Pick<Logger, 'warn'>;
}) {
  const writer = createBatchWriter<StoredFailure>({
    what: 'failed sign-ins for the audit',
    write: (failures) => insertFailedSignIns(deps.pool, failures),
    everyMs: 1_000,
    maxBatch: 500,
    // A few megabytes.
    maxHeld: 10_000,
    log: deps.log,
  });
  return {
    record(failure: FailedSignIn): void {
      const at = new Date(deps.clock());
      writer.add({ ...failure, id: createAuditId(at), at });
    },
    start: writer.start,
    stop: writer.stop,
  };
}

/**
 * Records failed sign-ins for the audit. A request only appends to a list; the account is looked up when the list is
 * written, so that timing doesn't reveal whether it exists. A kill -9 loses the failures of the last second.
 */
export type FailedSignIns = ReturnType<typeof createFailedSignIns>;
