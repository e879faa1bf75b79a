import { randomUUID } from 'node:crypto';
import { type IncomingMessage, METHODS } from 'node:http';
import type { Socket } from 'node:net';
import { createRequestsInProgress } from '@platform/service-kit/requests-in-progress';
import fastify, { type FastifyInstance } from 'fastify';
import {
  explainRequestFault,
  type GatewayError,
  HEADERS_TOO_LARGE,
  MALFORMED,
  METHOD_NOT_ALLOWED,
  NOT_FOUND,
  renderError,
  sendError,
  sendNotFound,
} from './errors.js';
import { isForwardable } from './forwardable-path.js';
import { endWithClient, registerProxy } from './proxy.js';
import { readToTheEnd } from './request-body.js';
import type { Upstream } from './upstream.js';

const KIB = 1024;
/** Below Node's limit of 16 KiB in the services, with room for the headers that the gateway adds. */
const MAX_HEADER_BYTES = 15 * KIB;
/** Headers up to this size are read completely, so that the client gets a response instead of a closed connection. */
const HEADER_BYTES_READ = 256 * KIB;

/** The time limits of a whole request and of a pause in it, longer than those of the services, which send better errors. */
const REQUEST_TIMEOUT_MS = 50_000;
const CONNECTIONS_CHECK_MS = 5_000;
const BODY_STALL_MS = 15_000;

export interface GatewayOptions {
  /** Addresses and CIDR ranges of the proxies that are trusted about the client's address and its use of HTTPS. */
  readonly trustedProxies?: readonly string[];
  /** The longest pause in a body, in ms. */
  readonly bodyStallMs?: number;
}

const SANE_REQUEST_ID = /^[\w.:/+=-]{1,128}$/;

/** Creates the gateway, the only entrance to the platform; it does not listen yet. */
export async function createGateway(
  upstreams: readonly Upstream[],
  { trustedProxies = [], bodyStallMs = BODY_STALL_MS }: GatewayOptions = {},
): Promise<FastifyInstance> {
  const requests = createRequestsInProgress();
  const app = fastify({
    logger: false,
    genReqId: getRequestId,
    trustProxy: trustedProxies.length > 0 ? [...trustedProxies] : false,
    forceCloseConnections: 'idle',
    return503OnClosing: false,
    requestTimeout: REQUEST_TIMEOUT_MS,
    // Node's own refusals do not have the error format, so the hook below refuses instead.
    http: {
      maxHeaderSize: HEADER_BYTES_READ,
      requireHostHeader: false,
      connectionsCheckingInterval: CONNECTIONS_CHECK_MS,
    },
    clientErrorHandler: (error, socket) => {
      if (requests.isAnswerable(socket)) answerParserFault(error, socket);
      else socket.destroy(error);
    },
    frameworkErrors: (error, _request, reply) => void sendError(reply, explainRequestFault(error.statusCode)),
  });
  requests.watch(app.server);
  for (const method of PASSED_METHODS)
    if (!app.supportedMethods.includes(method)) app.addHttpMethod(method, { hasBody: true });
  app.setNotFoundHandler(sendNotFound);
  app.server.on('connect', (_request, socket: Socket) => {
    refuse(socket, METHOD_NOT_ALLOWED, `allow: ${OWN_ALLOW}\r\n`);
  });
  app.setErrorHandler((error: { statusCode?: number }, _request, reply) =>
    sendError(reply, explainRequestFault(error.statusCode)),
  );
  app.addHook('onRequest', (request, reply, done) => {
    reply.header('x-request-id', request.id);
    // Fastify itself would refuse such a request (RFC 10008 §2), whether or not its service knows the method or the path.
    if (request.method === 'QUERY') request.headers['content-type'] ??= 'application/octet-stream';
    if (request.protocol === 'https') reply.header('strict-transport-security', STRICT_TRANSPORT_SECURITY);
    if (isMalformed(request.raw)) sendError(reply.header('connection', 'close'), MALFORMED);
    else if (headerBytes(request.raw) > MAX_HEADER_BYTES) sendError(reply, HEADERS_TOO_LARGE);
    else if (request.method === 'TRACE') sendError(reply.header('allow', OWN_ALLOW), METHOD_NOT_ALLOWED);
    else if (!isForwardable(request.raw.url ?? '')) sendError(reply, NOT_FOUND);
    else done();
  });
  endWithClient(app);
  readToTheEnd(app, bodyStallMs);
  for (const upstream of upstreams) await registerProxy(app, upstream, PASSED_METHODS);
  return app;
}

/** Every method that Node's parser knows; the services decide which of them a path accepts. */
const PASSED_METHODS = METHODS.filter((method) => method !== 'CONNECT' && method !== 'TRACE');
/**
 * The methods that the gateway allows; it refuses CONNECT, and TRACE, which would reveal the headers that the gateway
 * adds.
 */
const OWN_ALLOW = 'DELETE, GET, HEAD, PATCH, POST';

/** The services send the same header themselves, only where the client used TLS (RFC 6797 §7.2). */
const STRICT_TRANSPORT_SECURITY = 'max-age=31536000; includeSubDomains';

/** Returns whether HTTP/1.1 lacks exactly one `Host` (RFC 9112 §3.2), or HTTP/1.0 has chunks (RFC 9112 §6.1). */
function isMalformed({ headers, httpVersion, rawHeaders }: IncomingMessage): boolean {
  if (httpVersion === '1.0') return headers['transfer-encoding'] !== undefined;
  return rawHeaders.filter((name, index) => index % 2 === 0 && /^host$/i.test(name)).length !== 1;
}

/** Returns the caller's id when it is short and plain, otherwise a new one. */
function getRequestId(request: IncomingMessage): string {
  const given = request.headers['x-request-id'];
  return typeof given === 'string' && SANE_REQUEST_ID.test(given) ? given : randomUUID();
}

const headerBytes = ({ url = '', rawHeaders }: IncomingMessage): number =>
  rawHeaders.reduce((bytes, text) => bytes + text.length + 2, url.length);

/** Answers requests that Node's parser rejects. */
function answerParserFault(error: NodeJS.ErrnoException, socket: Socket): void {
  if (error.code === 'ECONNRESET' || socket.destroyed) return;
  const status =
    error.code === 'HPE_HEADER_OVERFLOW' ? 431 : error.code === 'ERR_HTTP_REQUEST_TIMEOUT' ? 408 : 400;
  refuse(socket, explainRequestFault(status));
}

function refuse(socket: Socket, fault: GatewayError, moreHeaders = ''): void {
  const body = JSON.stringify(renderError(fault, 'standard'));
  if (socket.writable) {
    socket.write(
      `HTTP/1.1 ${fault.status} ${fault.message}\r\ncontent-type: application/json; charset=utf-8\r\n` +
        `content-length: ${Buffer.byteLength(body)}\r\nx-request-id: ${randomUUID()}\r\n${moreHeaders}` +
        `connection: close\r\n\r\n${body}`,
    );
  }
  socket.destroySoon();
}
