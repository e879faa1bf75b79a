import type { FastifyBaseLogger } from 'fastify';

const OUTAGE_LOG_EVERY_MS = 1_000;

export interface LoggedFault {
  readonly error: unknown;
  readonly message: string;
  /** Something that is needed doesn't answer: it fails every request alike. */
  readonly isOutage: boolean;
  readonly fields?: Readonly<Record<string, unknown>>;
}

/** Every server error, but of a dependency that is away one line a second: a flood would only hide what matters. */
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
