import { once } from 'node:events';
import { Server as NetServer, type Socket } from 'node:net';
import { setImmediate as nextTurn, setTimeout as delay } from 'node:timers/promises';
import type { App } from './app.js';
import { createHalfSentEnd } from './half-sent.js';

/** A gateway closes its idle connections sooner than that; who doesn't may lose a request. */
const IDLE_GRACE_MAX_MS = 5_000;
const IDLE_CHECK_MS = 100;
/** For the first byte of a connection. */
const SILENCE_MAX_MS = 1_000;
/** Node's own for a listener: more than that is a flood. */
const BACKLOG = 511;

/**
 * Ends the connections so that no request is lost. A gateway keeps connections, and sends on them or on new ones. New ones
 * are refused from the first moment on, so that it asks another replica; on the others each answer says that it is the
 * last, and those that stay idle are the gateway's to close: when we did, a request could be on its way. A request that
 * has come in half is waited for as long as more of it comes.
 * @param connections - all that are open: to Node, one that has never sent anything is not idle.
 * @param graceMs how long idle connections are left to the other side.
 */
async function closeListener(
  { server, close }: App,
  connections: ReadonlySet<Socket>,
  graceMs: number,
): Promise<void> {
  await acceptWaiting(server);
  const closed = once(server, 'close');
  // Nothing but the listener: `close` of an HTTP server closes what is idle, too.
  NetServer.prototype.close.call(server);
  const closedAt = performance.now();
  const grace = new AbortController();
  await Promise.race([closed, delay(graceMs, undefined, { signal: grace.signal })]);
  grace.abort();
  const endHalfSent = createHalfSentEnd(server);
  const endIdle = () => {
    server.closeIdleConnections();
    endHalfSent(connections);
    if (performance.now() - closedAt < SILENCE_MAX_MS) return;
    for (const socket of connections) if (socket.bytesRead === 0) socket.destroy();
  };
  // In the phase behind the one that has read what had come.
  const timer = setInterval(() => setImmediate(endIdle), IDLE_CHECK_MS);
  await nextTurn();
  endIdle();
  await Promise.all([closed, close()]).finally(() => clearInterval(timer));
}

/** What nobody has accepted is reset when the listener closes, and a turn of the event loop accepts one (libuv since 1.45). */
async function acceptWaiting(server: NetServer): Promise<void> {
  let hasAccepted = true;
  const onConnection = () => {
    hasAccepted = true;
  };
  server.on('connection', onConnection);
  for (let turn = 0; hasAccepted && turn < BACKLOG; turn += 1) {
    hasAccepted = false;
    await nextTurn();
  }
  server.off('connection', onConnection);
}

/**
 * To be called before the app listens.
 *
 * @param graceMs - how long idle connections are left to the other side; 5 s at most.
 * @returns what ends the listener, and its connections so that no request is lost.
 */
export function prepareClose(app: App, graceMs: number): () => Promise<void> {
  const connections = new Set<Socket>();
  app.server.on('connection', (socket: Socket) => {
    connections.add(socket);
    socket.once('close', () => connections.delete(socket));
  });
  return () => closeListener(app, connections, Math.min(graceMs, IDLE_GRACE_MAX_MS));
}
