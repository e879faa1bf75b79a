import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import fastify, { type FastifyInstance } from 'fastify';
import { registerDocs } from './docs.js';
import { explainRequestFault, HEADERS_TOO_LARGE, NOT_FOUND, renderError, sendError } from './errors.js';
import { isForwardable } from './forwardable-path.js';
import { registerHealth } from './health.js';
import { registerProxy } from './proxy.js';
import { readToTheEnd } from './request-body.js';
import type { Upstream } from './upstream.js';

const KIB = 1024;
/** Below Node's limit of 16 KiB in the services, with room for the headers that the gateway adds. */
const HEADER_BYTES_MAX = 15 * KIB;
/** Headers up to here are read to their end, so that the client gets an answer and not a closed connection. */
const HEADER_BYTES_READ = 256 * KIB;

/** From the first byte of a request to its last: longer than the services', whose answer is in the shape of their errors. */
const REQUEST_TIMEOUT_MS = 40_000;

const SANE_REQUEST_ID = /^[\w.:/+=-]{1,128}$/;

/** Makes the one entrance to the platform; it doesn't listen yet. */
export async function createGateway(upstreams: readonly Upstream[]): Promise<FastifyInstance> {
  const app = fastify({
    logger: false,
    genReqId: requestIdOf,
    // Nobody stands before this gateway, so nobody's X-Forwarded-For is believed.
    trustProxy: false,
    forceCloseConnections: 'idle',
    return503OnClosing: false,
    requestTimeout: REQUEST_TIMEOUT_MS,
    http: { maxHeaderSize: HEADER_BYTES_READ },
    clientErrorHandler: answerParserFault,
    frameworkErrors: (error, _request, reply) => void sendError(reply, explainRequestFault(error.statusCode)),
  });
  app.setNotFoundHandler((_request, reply) => sendError(reply, NOT_FOUND));
  app.setErrorHandler((error: { statusCode?: number }, _request, reply) =>
    sendError(reply, explainRequestFault(error.statusCode)),
  );
  app.addHook('onRequest', (request, reply, done) => {
    reply.header('x-request-id', request.id);
    if (headerBytes(request.raw) > HEADER_BYTES_MAX) sendError(reply, HEADERS_TOO_LARGE);
    else if (!isForwardable(request.raw.url ?? '')) sendError(reply, NOT_FOUND);
    else done();
  });
  readToTheEnd(app);
  registerHealth(app, upstreams);
  await registerDocs(app, upstreams);
  for (const upstream of upstreams) await registerProxy(app, upstream);
  return app;
}

/** The caller's id when it is short and plain, else a new one. */
function requestIdOf(request: IncomingMessage): string {
  const given = request.headers['x-request-id'];
  return typeof given === 'string' && SANE_REQUEST_ID.test(given) ? given : randomUUID();
}

const headerBytes = ({ url = '', rawHeaders }: IncomingMessage): number =>
  rawHeaders.reduce((bytes, text) => bytes + text.length + 2, url.length);

/** Faults that Node's parser finds before there is a request. */
function answerParserFault(error: NodeJS.ErrnoException, socket: Socket): void {
  if (error.code === 'ECONNRESET' || socket.destroyed) return;
  // A request of this connection is being answered: nothing may be written into that.
  if ((socket as Socket & { _httpMessage?: unknown })._httpMessage) {
    socket.destroy(error);
    return;
  }
  const status =
    error.code === 'HPE_HEADER_OVERFLOW' ? 431 : error.code === 'ERR_HTTP_REQUEST_TIMEOUT' ? 408 : 400;
  const fault = explainRequestFault(status);
  const body = JSON.stringify(renderError(fault, 'standard'));
  if (socket.writable) {
    socket.write(
      `HTTP/1.1 ${status} ${fault.message}\r\ncontent-type: application/json; charset=utf-8\r\n` +
        `content-length: ${Buffer.byteLength(body)}\r\nconnection: close\r\n\r\n${body}`,
    );
  }
  socket.destroySoon();
}
