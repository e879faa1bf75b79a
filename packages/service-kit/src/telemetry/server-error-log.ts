import type { FastifyBaseLogger } from 'fastify';

const OUTAGE_LOG_EVERY_MS = 1_000;

export interface LoggedFault {
  readonly error: unknown;
  readonly message: string;
  /** Whether a dependency is unavailable, which fails every request in the same way. */
  readonly isOutage: boolean;
  readonly fields?: Readonly<Record<string, unknown>>;
}

/** Logs every server error, but outages of a dependency only once a second, so that they do not flood the log. */
export function createServerErrorLog() {
  let lastAt = Number.NEGATIVE_INFINITY;
  let suppressed = 0;
  return (log: Pick<FastifyBaseLogger, 'error'>, { error, message, isOutage, fields }: LoggedFault): void => {
    const now = performance.now();
    if (isOutage && now - lastAt < OUTAGE_LOG_EVERY_MS) {
      suppressed += 1;
      return;
    }
    log.error({ err: error, ...fields, ...(suppressed > 0 && { suppressed }) }, message);
    if (isOutage) [lastAt, suppressed] = [now, 0];
  };
}
