import { type AddressInfo, createServer } from 'node:net';

const END = Buffer.from('\r\n.\r\n');

/** An SMTP server that says yes to everything, as fast as it can, and forgets it. */
export async function startSink(): Promise<{ readonly port: number; stop(): void }> {
  const server = createServer((socket) => {
    let isMessage = false;
    let tail = Buffer.alloc(0);
    socket.setNoDelay(true);
    socket.on('error', () => undefined);
    socket.write('220 sink\r\n');
    socket.on('data', (chunk) => {
      if (isMessage) {
        tail = Buffer.concat([tail, chunk]).subarray(-END.length);
        if (!tail.equals(END)) return;
        isMessage = false;
        socket.write('250 ok\r\n');
        return;
      }
      const verb = chunk.toString('latin1', 0, 4);
      isMessage = verb === 'DATA';
      tail = Buffer.alloc(0);
      socket.write(isMessage ? '354 go\r\n' : verb === 'QUIT' ? '221 bye\r\n' : '250 ok\r\n');
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    stop: () => {
      server.close();
    },
  };
}
