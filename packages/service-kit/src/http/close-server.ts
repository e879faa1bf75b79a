import type { Server } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { App } from './app.js';
import type { RequestsInProgress } from './requests-in-progress.js';

const CHECK_INTERVAL_MS = 100;
/** The time, in ms, for which a connection without a request may stay open after the listener has closed. */
const IDLE_TIMEOUT_MS = 1_000;
/** Node's default backlog for a listener. */
const MAX_BACKLOG = 511;

/** Accepts the connections that the kernel has queued; closing the listener would reset them. libuv accepts one per turn. */
async function acceptPending(server: Server): Promise<void> {
  let hasAccepted = true;
  const onConnection = () => {
    hasAccepted = true;
  };
  server.on('connection', onConnection);
  for (let turn = 0; hasAccepted && turn < MAX_BACKLOG; turn += 1) {
    hasAccepted = false;
    await nextTurn();
  }
  server.off('connection', onConnection);
}

/**
 * Closes the app: finishes the requests in progress, and closes every connection without one. Node itself would wait for
 * connections that have sent nothing, or only half of a request's head.
 */
export async function closeServer(app: App, requests: RequestsInProgress): Promise<void> {
  await acceptPending(app.server);
  const closed = app.close();
  let idleSince = performance.now();
  const timer = setInterval(() => {
    if (requests.count() > 0) idleSince = performance.now();
    else if (performance.now() - idleSince >= IDLE_TIMEOUT_MS) app.server.closeAllConnections();
  }, CHECK_INTERVAL_MS);
  await closed.finally(() => {
    clearInterval(timer);
  });
}
