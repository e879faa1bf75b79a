import { createServer } from 'node:net';

/*
 * An SMTP server that accepts everything at once and keeps nothing, in a process of its own. Not
 * the `smtp-server` package: it waits 100 ms before its greeting, which would flatter whoever keeps
 * connections. Pipelined commands are answered in their order.
 */
const END_OF_DATA = '\r\n.\r\n';

const answers: Readonly<Record<string, string>> = {
  EHLO: '250-sink\r\n250-PIPELINING\r\n250-8BITMIME\r\n250 SMTPUTF8\r\n',
  DATA: '354 go on\r\n',
  QUIT: '221 bye\r\n',
};

createServer((socket) => {
  let isData = false;
  let pending = '';
  socket.setNoDelay(true);
  socket.on('error', () => undefined);
  socket.write('220 sink\r\n');
  socket.on('data', (chunk) => {
    pending += chunk.toString('latin1');
    for (;;) {
      const end = isData ? pending.indexOf(END_OF_DATA) : pending.indexOf('\r\n');
      if (end < 0) return;
      const line = pending.slice(0, end);
      pending = pending.slice(end + (isData ? END_OF_DATA.length : 2));
      if (isData) {
        isData = false;
        socket.write('250 accepted\r\n');
        continue;
      }
      const verb = line.slice(0, 4).toUpperCase();
      isData = verb === 'DATA';
      socket.write(answers[verb] ?? '250 ok\r\n');
      if (verb === 'QUIT') socket.end();
    }
  });
}).listen(Number(process.argv[2]), '127.0.0.1');
process.once('SIGTERM', () => process.exit(0));
