import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { Transform } from 'node:stream';
import type { OwnRedis } from '@platform/testing';

/**
 * Starts an address that leads to one Redis or another, such as a name in the DNS. An open connection stays where it is.
 *
 * @param rewrite - changes what the server answers, without changing its length.
 */
export async function startAddress(
  first: OwnRedis,
  rewrite: (answer: string) => string = (answer) => answer,
) {
  let current = first;
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    const upstream = connect(current.port, '127.0.0.1');
    for (const [socket, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(socket);
      socket.on('error', () => other.destroy()).on('close', () => other.destroy());
    }
    const rewriting = new Transform({
      transform(chunk: Buffer, _encoding, done) {
        done(null, Buffer.from(rewrite(chunk.toString('latin1')), 'latin1'));
      },
    });
    client.pipe(upstream).pipe(rewriting).pipe(client);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `redis://127.0.0.1:${(server.address() as AddressInfo).port}`,
    leadTo: (redis: OwnRedis) => void (current = redis),
    close: () =>
      new Promise((resolve) => {
        server.close(resolve);
        for (const socket of sockets) socket.destroy();
      }),
  };
}
