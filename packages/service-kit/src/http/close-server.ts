import type { Server } from 'node:http';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { App } from './app.js';
import type { RequestsInProgress } from './requests-in-progress.js';

const CHECK_INTERVAL_MS = 100;
/** The time, in ms, for which a connection without a request may stay open after the listener has closed. */
const IDLE_TIMEOUT_MS = 1_000;
/** The longest turn of the event loop, in ms, that counts as quiet; an idle loop takes a hundredth of a millisecond. */
const QUIET_TURN_MS = 0.2;
/** The longest time, in ms, that a busy process waits for a quiet turn. */
const MAX_WAIT_MS = 2_000;

/**
 * Resolves at the end of a turn of the event loop that accepted no connection and did next to nothing else. All that
 * clients had sent when the turn began has then been read, and hardly any time has passed since.
 */
async function waitForQuietTurn(server: Server): Promise<void> {
  let hasAccepted = false;
  const onConnection = () => {
    hasAccepted = true;
  };
  server.on('connection', onConnection);
  const deadline = performance.now() + MAX_WAIT_MS;
  // The caller's turn may be past its polling, so the next one is the first that is whole.
  await nextTurn();
  let startedAt: number;
  let endedAt: number;
  do {
    hasAccepted = false;
    startedAt = performance.now();
    await nextTurn();
    endedAt = performance.now();
  } while ((hasAccepted || endedAt - startedAt > QUIET_TURN_MS) && endedAt < deadline);
  server.off('connection', onConnection);
}

/**
 * Closes the listener, and the connections that have had a response and no new request. The kernel resets what it has
 * queued for them by then: a connection that is not yet accepted, or a request that is not yet read. A gateway answers a
 * POST that was reset with 502, because it cannot know whether the POST had an effect. So each of the two waits for a
 * turn that has just emptied the queues.
 *
 * Register it as the last `preClose` hook: between these hooks and its own `server.close()`, Fastify lets several turns
 * pass. Fastify then waits for the requests in progress as it does otherwise.
 */
export async function closeListener(server: Server): Promise<void> {
  await waitForQuietTurn(server);
  server.closeIdleConnections();
  await waitForQuietTurn(server);
  server.close();
}

/**
 * Closes the app: finishes the requests in progress, and closes every connection without one. Node itself would wait for
 * connections that have sent nothing, or only half of a request's head.
 */
export async function closeServer(app: App, requests: RequestsInProgress): Promise<void> {
  const closed = app.close();
  let idleSince = performance.now();
  const timer = setInterval(() => {
    if (app.server.listening || requests.count() > 0) idleSince = performance.now();
    else if (performance.now() - idleSince >= IDLE_TIMEOUT_MS) app.server.closeAllConnections();
  }, CHECK_INTERVAL_MS);
  await closed.finally(() => {
    clearInterval(timer);
  });
}
