import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';

const HOST = '127.0.0.1';

export type Proxy = Awaited<ReturnType<typeof startProxy>>;

/** Starts a TCP proxy before a port of this machine, whose connections can be slowed down, cut or made half-open. */
export async function startProxy(target: number, ownPort = 0) {
  const sockets = new Set<Socket>();
  let chunkDelayMs = 0;
  let isHalfOpen = false;

  /** Passes on what one end sends, one chunk after the other, and then its end. */
  function transmit(from: Socket, to: Socket): void {
    let written: Promise<void> = Promise.resolve();
    const write = async (chunk: Buffer): Promise<void> => {
      if (chunkDelayMs > 0) await delay(chunkDelayMs);
      if (isHalfOpen || to.write(chunk)) from.resume();
      else to.once('drain', () => from.resume());
    };
    from.on('data', (chunk: Buffer) => {
      from.pause();
      written = write(chunk);
    });
    // The end of a half-open connection isn't passed on either; `mend` resets it.
    from.on('end', () => void written.then(() => isHalfOpen || to.end()));
    from.on('error', () => to.resetAndDestroy());
    from.on('close', () => sockets.delete(from));
    sockets.add(from);
  }

  const server = createServer({ allowHalfOpen: true }, (client) => {
    const upstream = connect({ port: target, host: HOST, allowHalfOpen: true });
    transmit(client, upstream);
    transmit(upstream, client);
  });
  await once(server.listen(ownPort, HOST), 'listening');
  const { port } = server.address() as { port: number };

  /** Resets each connection at both ends. */
  function cut(): void {
    for (const socket of sockets) socket.resetAndDestroy();
  }
  return {
    port,
    cut,
    /** Delays each chunk, in either direction. */
    slowDown: (ms: number): void => void (chunkDelayMs = ms),
    /** Accepts connections and bytes that go nowhere, until it is mended: no end of a connection is passed on. */
    halfOpen: (): void => void (isHalfOpen = true),
    /** Works as usual again. Connections that have lost bytes are reset. */
    mend(): void {
      chunkDelayMs = 0;
      if (!isHalfOpen) return;
      isHalfOpen = false;
      cut();
    },
    async close(): Promise<void> {
      const closed = once(server, 'close');
      server.close();
      cut();
      await closed;
    },
  };
}
