import type { IncomingMessage, Server } from 'node:http';
import type { Socket } from 'node:net';

/** How long the rest of a request may stand still: a client that is well sends on, on a slow line too. */
const STALL_MAX_MS = 5_000;

/** What Node knows of a connection: the answer that is under way on it, with its request. */
type HttpSocket = Socket & { readonly _httpMessage?: { readonly req: IncomingMessage } | null };

/** Whether a part of a request has come, and Node or the app waits for more of it. */
function isHalfSent({ _httpMessage: answer, bytesRead }: HttpSocket): boolean {
  if (!answer) return bytesRead > 0;
  // Null: nobody reads it yet, and it stands still without the client's fault. An iterator reads with `false`.
  return !answer.req.complete && answer.req.readableFlowing !== null;
}

/**
 * Node looks for late requests only as long as it listens; this goes on with that, and is stricter.
 *
 * @returns what ends the requests that stand still for 5 s between its calls, and those that aren't complete within the
 *   server's `requestTimeout` from now: with 408, or where their head had come, by closing the connection. The connections
 *   that it is given have no idle ones among them.
 */
export function createHalfSentEnd(server: Server): (connections: Iterable<Socket>) => void {
  const startedAt = performance.now();
  const seen = new WeakMap<Socket, { readonly bytesRead: number; readonly at: number }>();
  return (connections) => {
    const now = performance.now();
    for (const socket of connections) {
      if (!isHalfSent(socket)) {
        seen.delete(socket);
        continue;
      }
      const last = seen.get(socket);
      if (last?.bytesRead !== socket.bytesRead) seen.set(socket, { bytesRead: socket.bytesRead, at: now });
      const isStill = last?.bytesRead === socket.bytesRead && now - last.at >= STALL_MAX_MS;
      if (isStill || now - startedAt >= server.requestTimeout) refuse(server, socket);
    }
  };
}

function refuse(server: Server, socket: Socket): void {
  const error = Object.assign(new Error('Request timeout'), { code: 'ERR_HTTP_REQUEST_TIMEOUT' });
  server.emit('clientError', error, socket);
}
