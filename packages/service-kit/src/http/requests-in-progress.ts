// A separate entry point without imports, because the local gateway uses it too.
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

export type RequestsInProgress = ReturnType<typeof createRequestsInProgress>;

interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

/** Counts the requests whose response is not complete, in total and for each connection. */
export function createRequestsInProgress() {
  const bySocket = new Map<Socket, Set<Exchange>>();
  let total = 0;

  function begin(socket: Socket, exchange: Exchange): void {
    total += 1;
    const open = bySocket.get(socket);
    if (open) {
      open.add(exchange);
      return;
    }
    bySocket.set(socket, new Set([exchange]));
    // A pipelined response that has never begun does not close when its connection does.
    socket.once('close', () => {
      total -= bySocket.get(socket)?.size ?? 0;
      bySocket.delete(socket);
    });
  }

  return {
    /** Must be called before the server listens. */
    watch(server: Server): void {
      server.on('request', (request, response) => {
        const exchange = { request, response };
        const { socket } = request;
        begin(socket, exchange);
        response.once('close', () => {
          if (bySocket.get(socket)?.delete(exchange)) total -= 1;
        });
      });
    },
    /**
     * Returns whether a fault that Node's parser finds on the connection may be answered: when no response is due, or
     * the fault is in the body of the only request, and its response has not begun.
     */
    isAnswerable(socket: Socket): boolean {
      const [first, ...more] = bySocket.get(socket) ?? [];
      return more.length === 0 && (!first || (!first.request.complete && !first.response.headersSent));
    },
    count: (): number => total,
  };
}
