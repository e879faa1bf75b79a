import { createServer } from 'node:net';

/*
 * An SMTP server that says yes to everything as fast as it can and forgets it, in a process of its
 * own. Not the `smtp-server` package: it waits 100 ms before its greeting, which would flatter
 * whoever keeps connections.
 */
const END_OF_DATA = Buffer.from('\r\n.\r\n');

createServer((socket) => {
  let isData = false;
  let tail = Buffer.alloc(0);
  socket.setNoDelay(true);
  socket.on('error', () => undefined);
  socket.write('220 sink\r\n');
  socket.on('data', (chunk) => {
    if (isData) {
      tail = Buffer.concat([tail, chunk.subarray(-END_OF_DATA.length)]).subarray(-END_OF_DATA.length);
      if (!tail.equals(END_OF_DATA)) return;
      isData = false;
      socket.write('250 ok\r\n');
      return;
    }
    const verb = chunk.toString('latin1', 0, 4).toUpperCase();
    isData = verb === 'DATA';
    tail = Buffer.alloc(0);
    socket.write(isData ? '354 go on\r\n' : verb === 'QUIT' ? '221 bye\r\n' : '250 ok\r\n');
  });
}).listen(Number(process.argv[2]), '127.0.0.1');
process.once('SIGTERM', () => process.exit(0));
