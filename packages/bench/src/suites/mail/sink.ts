import { readFileSync } from 'node:fs';
import { createServer, type Socket } from 'node:net';
import { createSecureContext, TLSSocket } from 'node:tls';

/*
 * An SMTP server that accepts every mail as fast as it can and discards it. It runs in its own process. Like submission
 * servers it requires STARTTLS and AUTH, and it supports PIPELINING. The `smtp-server` package waits 100 ms before its
 * greeting, which would favour pooled connections.
 *
 *   node sink.js <port> <certificate and key, PEM>
 */
const [port, pemFile = ''] = process.argv.slice(2);
const pem = readFileSync(pemFile);
const secureContext = createSecureContext({ cert: pem, key: pem });
const END_OF_DATA = Buffer.from('\r\n.\r\n');

const replies: Readonly<Record<string, string>> = {
  EHLO: '250-sink\r\n250-PIPELINING\r\n250-8BITMIME\r\n250 STARTTLS\r\n',
  AUTH: '235 welcome\r\n',
  DATA: '354 go on\r\n',
  QUIT: '221 bye\r\n',
  STAR: '220 go on\r\n',
};
const secureEhlo = '250-sink\r\n250-PIPELINING\r\n250-8BITMIME\r\n250 AUTH PLAIN LOGIN\r\n';

/** Answers the commands of one chunk in one write. */
function createDialogue(isSecure: boolean) {
  let isData = false;
  let tail = Buffer.alloc(0);
  return (chunk: Buffer): string => {
    if (isData) {
      tail = Buffer.concat([tail, chunk.subarray(-END_OF_DATA.length)]).subarray(-END_OF_DATA.length);
      if (!tail.equals(END_OF_DATA)) return '';
      isData = false;
      return '250 ok\r\n';
    }
    const verbs = chunk
      .toString('latin1')
      .split('\r\n')
      .slice(0, -1)
      .map((line) => line.slice(0, 4).toUpperCase());
    isData = verbs.at(-1) === 'DATA';
    tail = Buffer.alloc(0);
    return verbs
      .map((verb) => (verb === 'EHLO' && isSecure ? secureEhlo : (replies[verb] ?? '250 ok\r\n')))
      .join('');
  };
}

function converse(socket: Socket, isSecure: boolean): void {
  const answer = createDialogue(isSecure);
  socket.on('error', () => undefined);
  socket.on('data', (chunk) => {
    const text = answer(chunk);
    if (text !== '') socket.write(text);
    if (text !== replies['STAR']) return;
    socket.removeAllListeners('data');
    converse(new TLSSocket(socket, { isServer: true, secureContext }), true);
  });
}

createServer((socket) => {
  socket.setNoDelay(true);
  converse(socket, false);
  socket.write('220 sink\r\n');
}).listen(Number(port), '127.0.0.1', () => {
  console.log('ready');
});
