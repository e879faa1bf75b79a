import { EventEmitter, once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Echo {
  readonly url: string;
  readonly method: string;
  readonly headers: IncomingHttpHeaders;
  readonly bodyBytes: number;
  readonly bodyStart: string;
}

export interface EchoService {
  readonly url: string;
  readonly server: Server;
  /** The targets of all requests. */
  readonly targets: string[];
  /** Emits `streamClosed` and `waitingEnded` when the client of a stream, or a waiting client, disconnects, and `cutOff` when a body arrived only in part. */
  readonly events: EventEmitter;
  stop(): Promise<void>;
}

/**
 * Starts a service that responds with the request; `/mcp/stream` sends one event and stays open, `/mcp/waiting` never
 * responds, and `/mcp/refused` reads no body.
 */
export async function startEchoService(): Promise<EchoService> {
  const server = createServer((request, response) => {
    const url = request.url ?? '';
    service.targets.push(url);
    request.once('close', () => request.complete || service.events.emit('cutOff', url));
    if (url === '/mcp/stream') {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).write('data: one\n\n');
      response.once('close', () => service.events.emit('streamClosed', 'closed'));
      return;
    }
    if (url === '/mcp/waiting') {
      request.resume();
      response.once('close', () => service.events.emit('waitingEnded', 'ended'));
      return;
    }
    if (url === '/mcp/unavailable') {
      response.writeHead(503, { 'retry-after': '0', 'content-type': 'text/plain' }).end('busy');
      return;
    }
    if (url === '/mcp/broken') {
      request.socket.destroy();
      return;
    }
    if (url === '/mcp/refused') {
      // Like the services: it responds at once, then reads and discards the rest.
      const [type, answer] = ['application/json', '{"refused":true}'];
      response.writeHead(413, { 'content-type': type, 'content-length': answer.length }).end(answer);
      request.resume();
      return;
    }
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const body = Buffer.concat(chunks);
      const echo: Echo = {
        url,
        method: request.method ?? '',
        headers: request.headers,
        bodyBytes: body.length,
        bodyStart: body.subarray(0, 100).toString(),
      };
      response.setHeader('content-type', 'application/json').end(JSON.stringify(echo));
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const service: EchoService = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    server,
    targets: [],
    events: new EventEmitter(),
    stop: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
  return service;
}
