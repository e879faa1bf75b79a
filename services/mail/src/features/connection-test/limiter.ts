import { getAccount } from '@platform/auth';
import { type Clock, tooManyRequests } from '@platform/service-kit';
import type { onRequestHookHandler } from 'fastify';
import { LRUCache } from 'lru-cache';

const WINDOW_MS = 60_000;
const MAX_TESTS = 10;
const MAX_ORGANISATIONS = 10_000;

export type ConnectionTestLimiter = ReturnType<typeof createConnectionTestLimiter>;

/** Limits the tests of the connection, and the test mails, of each organisation in this replica. */
export function createConnectionTestLimiter(clock: Clock) {
  const windows = new LRUCache<string, { readonly startedAt: number; tests: number }>({
    max: MAX_ORGANISATIONS,
  });
  return {
    /** Counts one test. @throws AppError 429 when the organisation has used up its tests of the current minute. */
    acquire(orgId: string): void {
      const now = clock();
      const present = windows.get(orgId);
      const window = present && now - present.startedAt < WINDOW_MS ? present : { startedAt: now, tests: 0 };
      if (window.tests >= MAX_TESTS) {
        const waitSeconds = Math.ceil((window.startedAt + WINDOW_MS - now) / 1_000);
        throw tooManyRequests(waitSeconds, 'Too many connection tests: try again later');
      }
      window.tests += 1;
      windows.set(orgId, window);
    },
  };
}

/** Counts a request as a test. */
export const countTest =
  (limiter: ConnectionTestLimiter): onRequestHookHandler =>
  (request, _reply, done) => {
    limiter.acquire(getAccount(request).orgId);
    done();
  };
