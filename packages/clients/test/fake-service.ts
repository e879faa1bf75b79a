import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { ServiceFault } from '../src/index.js';

export type Handler = (request: IncomingMessage, response: ServerResponse, body: string) => void;

export const getUrl = (server: Server): string =>
  `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

export const answer = (response: ServerResponse, status: number, body: unknown) =>
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));

export const toFault = async (call: Promise<unknown>): Promise<ServiceFault> =>
  call.then(
    () => {
      throw new Error('the call succeeded');
    },
    (error: ServiceFault) => error,
  );

/**
 * Starts a server that can fail in ways in which no service can be made to fail. Tests that run all services show that
 * they answer as the clients expect.
 */
export async function startFakeService() {
  const sockets = new Set<unknown>();
  let handle: Handler = (_request, response) => response.writeHead(404).end();
  const server = createServer((request, response) => {
    sockets.add(request.socket);
    let body = '';
    request.on('data', (chunk: Buffer) => {
      body += chunk.toString();
    });
    request.on('end', () => handle(request, response, body));
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  return {
    url: getUrl(server),
    onRequest(handler: Handler): void {
      handle = handler;
    },
    countConnections: () => sockets.size,
    async close(): Promise<void> {
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
    },
  };
}

export const context = { token: 'a.b.c', requestId: 'request-1', orgId: 'org' };
export const paused = {
  success: true,
  message: 'Job paused',
  data: { connector: 'wiki_1', orgId: 'org', pausedAt: '2026-11-21T10:00:00.000Z' },
};
