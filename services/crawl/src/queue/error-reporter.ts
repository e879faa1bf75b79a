import type { Logger } from '@platform/service-kit';

const EVERY_MS = 60_000;
/** The number of different messages that are remembered; the oldest is dropped. */
const MAX_MESSAGES = 20;

/**
 * Logs the errors of one connection that many listeners report: each message at once, and then at most once a minute,
 * with the number of errors that were left out.
 *
 * @param what - what failed, and what happens next.
 */
export function createErrorReporter(log: Pick<Logger, 'warn'>, what: string): (error: Error) => void {
  const reported = new Map<string, { at: number; omitted: number }>();
  return (error) => {
    const now = performance.now();
    const last = reported.get(error.message);
    if (last && now - last.at < EVERY_MS) {
      last.omitted += 1;
      return;
    }
    reported.delete(error.message);
    reported.set(error.message, { at: now, omitted: 0 });
    const [oldest] = reported.keys();
    if (reported.size > MAX_MESSAGES && oldest !== undefined) reported.delete(oldest);
    log.warn({ err: error, omitted: last?.omitted ?? 0 }, what);
  };
}
