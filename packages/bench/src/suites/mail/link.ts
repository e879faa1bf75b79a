import { connect, createServer, type Socket } from 'node:net';

/*
 * Simulates the network to a mail provider: each direction is delayed by half a round trip, and the server's greeting
 * arrives two round trips after the connection request. It runs in its own process.
 *
 *   node link.js <port> <target port> <round trip, ms>
 */
const [port, target, roundTripMs] = process.argv.slice(2).map(Number) as [number, number, number];

function forward(from: Socket, to: Socket): void {
  from.on('data', (chunk) => setTimeout(() => to.write(chunk), roundTripMs / 2));
  from.once('end', () => setTimeout(() => to.end(), roundTripMs / 2));
  from.once('error', () => to.destroy());
}

createServer({ pauseOnConnect: true, allowHalfOpen: true }, (near) => {
  near.setNoDelay(true);
  // A real server accepts the connection after the handshake; on loopback the kernel completes it at once.
  setTimeout(() => {
    const far = connect({ port: target, host: '127.0.0.1', noDelay: true, allowHalfOpen: true });
    forward(far, near);
    forward(near, far);
    near.resume();
  }, roundTripMs * 1.5);
}).listen(port, '127.0.0.1', () => {
  console.log('ready');
});
