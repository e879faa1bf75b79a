import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

/** Stands between a relay and its database, and can keep the marks from arriving. */
export interface MarkInterceptor {
  /** The database's URL, by way of this. */
  readonly url: string;
  /** From now on, the first mark and what follows it on its connection is swallowed. */
  swallowMarks(): void;
  /** Whether a mark was swallowed: its events are acknowledged by Kafka, and the database doesn't know. */
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
      // A client that is killed closes: so must its connection to the database.
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
