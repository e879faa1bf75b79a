import type { Clock, Logger, Shutdown } from '@platform/service-kit';
import type { FastifyRequest } from 'fastify';
import type pg from 'pg';
import { type AttemptJournal, createAttemptJournal, type StepReport } from './journal.js';

/** Starts the journal of attempts to connect. */
export function startAttemptJournal(deps: {
  readonly pool: pg.Pool;
  readonly clock: Clock;
  readonly log: Logger;
  readonly shutdown: Shutdown;
}): AttemptJournal {
  const journal = createAttemptJournal(deps);
  journal.start();
  deps.shutdown.on('flush', 'attempts to connect', journal.stop);
  return journal;
}

/** Records a step that the request is. */
export type RecordStep = (
  request: Pick<FastifyRequest, 'ip' | 'headers'>,
  report: Omit<StepReport, 'address' | 'userAgent'>,
) => void;

/** The console reads the metadata as well. */
const isOfConsole = (
  { headers }: Pick<FastifyRequest, 'headers'>,
  { step }: Pick<StepReport, 'step'>,
): boolean => step === 'metadata' && headers['sec-fetch-site'] === 'same-origin';

export const createRecordStep =
  ({ record }: Pick<AttemptJournal, 'record'>): RecordStep =>
  (request, report) => {
    const { ip, headers } = request;
    if (!isOfConsole(request, report)) record({ ...report, address: ip, userAgent: headers['user-agent'] });
  };
