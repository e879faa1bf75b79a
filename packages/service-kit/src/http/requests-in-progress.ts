// A separate entry point without imports, because the local gateway uses it too.
import type { Server } from 'node:http';
import type { Socket } from 'node:net';

export type RequestsInProgress = ReturnType<typeof createRequestsInProgress>;

/** Counts the requests whose response is not complete, in total and for each connection. */
export function createRequestsInProgress() {
  const countBySocket = new WeakMap<Socket, number>();
  let total = 0;
  const add = (socket: Socket, change: 1 | -1) => {
    total += change;
    countBySocket.set(socket, (countBySocket.get(socket) ?? 0) + change);
  };
  return {
    /** Must be called before the server listens. */
    watch(server: Server): void {
      server.on('request', ({ socket }, response) => {
        add(socket, 1);
        response.once('close', () => {
          add(socket, -1);
        });
      });
    },
    /** Returns whether a response is in progress on the connection; nothing else may then be written to it. */
    isBusy: (socket: Socket): boolean => (countBySocket.get(socket) ?? 0) > 0,
    count: (): number => total,
  };
}
