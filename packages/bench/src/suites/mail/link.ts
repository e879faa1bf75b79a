import { connect, createServer, type Socket } from 'node:net';

/*
 * The way to a mail provider: every byte arrives half a round trip later, in both directions, and the
 * server's greeting two round trips after the connection was asked for. A process of its own.
 *
 *   node link.js <port> <port that it leads to> <round trip, ms>
 */
const [port, target, roundTripMs] = process.argv.slice(2).map(Number) as [number, number, number];

function forward(from: Socket, to: Socket): void {
  from.on('data', (chunk) => setTimeout(() => to.write(chunk), roundTripMs / 2));
  from.once('end', () => setTimeout(() => to.end(), roundTripMs / 2));
  from.once('error', () => to.destroy());
}

createServer({ pauseOnConnect: true, allowHalfOpen: true }, (near) => {
  near.setNoDelay(true);
  // The server has the connection when the handshake is over; the kernel's own answered at once.
  setTimeout(() => {
    const far = connect({ port: target, host: '127.0.0.1', noDelay: true, allowHalfOpen: true });
    forward(far, near);
    forward(near, far);
    near.resume();
  }, roundTripMs * 1.5);
}).listen(port, '127.0.0.1');
process.once('SIGTERM', () => process.exit(0));
