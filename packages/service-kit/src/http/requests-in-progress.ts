// A separate entry point without imports, because the local gateway uses it too.
import type { Server } from 'node:http';
import type { Socket } from 'node:net';

export type RequestsInProgress = ReturnType<typeof createRequestsInProgress>;

/** Counts the requests whose response is not complete, in total and for each connection. */
export function createRequestsInProgress() {
  const countBySocket = new Map<Socket, number>();
  let total = 0;

  function begin(socket: Socket): void {
    total += 1;
    const count = countBySocket.get(socket);
    countBySocket.set(socket, (count ?? 0) + 1);
    // A pipelined response that has never begun does not close when its connection does.
    if (count === undefined)
      socket.once('close', () => {
        total -= countBySocket.get(socket) ?? 0;
        countBySocket.delete(socket);
      });
  }

  function end(socket: Socket): void {
    const count = countBySocket.get(socket);
    if (count === undefined) return;
    total -= 1;
    countBySocket.set(socket, count - 1);
  }

  return {
    /** Must be called before the server listens. */
    watch(server: Server): void {
      server.on('request', ({ socket }, response) => {
        begin(socket);
        response.once('close', () => {
          end(socket);
        });
      });
    },
    /** Returns whether a response is in progress on the connection; nothing else may then be written to it. */
    isBusy: (socket: Socket): boolean => (countBySocket.get(socket) ?? 0) > 0,
    count: (): number => total,
  };
}
