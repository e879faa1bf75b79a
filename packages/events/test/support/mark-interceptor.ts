import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

/** A proxy between a relay and its database that can drop the marks. */
interface MarkInterceptor {
  /** The URL of the database through this proxy. */
  readonly url: string;
  /** From now on, drops the first mark and everything after it on its connection. */
  swallowMarks(): void;
  /** Whether a mark was dropped; Kafka has then acknowledged events that the database does not know to be published. */
  readonly hasSwallowed: boolean;
  close(): void;
}

const MARK = 'relay-mark-published';

/** Forwards TCP; statements are recognised by their name, which each execution carries. */
export async function interceptMarks(databaseUrl: string): Promise<MarkInterceptor> {
  const target = new URL(databaseUrl);
  const sockets = new Set<Socket>();
  let isSwallowing = false;
  let hasSwallowed = false;
  const server = createServer((client) => {
    const upstream = connect(Number(target.port), target.hostname);
    let isDead = false;
    for (const [socket, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(socket);
      socket.on('error', () => undefined);
      // When a killed client's connection closes, the one to the database must close, too.
      socket.on('close', () => other.destroy());
    }
    client.on('data', (chunk) => {
      if (isSwallowing && chunk.includes(MARK)) isDead = hasSwallowed = true;
      if (!isDead) upstream.write(chunk);
    });
    upstream.on('data', (chunk) => client.write(chunk));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = new URL(databaseUrl);
  url.host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url: url.href,
    swallowMarks: () => void (isSwallowing = true),
    get hasSwallowed() {
      return hasSwallowed;
    },
    close() {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}
