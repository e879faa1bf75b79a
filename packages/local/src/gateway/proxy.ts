import type { IncomingHttpHeaders } from 'node:http';
import httpProxy from '@fastify/http-proxy';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { explainUpstreamFault, NOT_FOUND, sendError } from './errors.js';
import type { Upstream } from './upstream.js';

/**
 * Until the first byte of an answer: more than the minute that mail may take to deliver. Between two bytes there is no
 * limit: a stream may pause as long as it likes.
 */
const ANSWER_TIMEOUT_MS = 75_000;
const CONNECT_TIMEOUT_MS = 2_000;
const MAX_CONNECTIONS = 128;

/**
 * What services ask one another is not there for anybody else. The router that chooses the service decides this too, so
 * no spelling of a path passes the one and not the other.
 */
function hideInternal(app: FastifyInstance, { internal, errorShape }: Upstream): void {
  const refuse = (_request: FastifyRequest, reply: FastifyReply) =>
    void sendError(reply, NOT_FOUND, errorShape);
  for (const path of internal.flatMap((prefix) => [prefix, `${prefix}/*`]))
    // In the hook: whatever the body is, it isn't read.
    app.all(path, { schema: { hide: true }, onRequest: refuse }, refuse);
}

/** Passes everything below the service's prefixes on, bodies as streams both ways, and its documentation. */
export async function registerProxy(
  app: FastifyInstance,
  upstream: Upstream,
  methods: readonly string[],
): Promise<void> {
  const connections = {
    connections: MAX_CONNECTIONS,
    headersTimeout: ANSWER_TIMEOUT_MS,
    bodyTimeout: 0,
    connect: { timeout: CONNECT_TIMEOUT_MS },
  };
  const replyOptions = {
    // A retry is the client's to decide: the proxy would repeat a GET on every 503.
    retryDelay: () => null,
    onError: (reply: unknown, { error }: { error: unknown }) =>
      void sendError(reply as FastifyReply, explainUpstreamFault(error), upstream.errorShape),
    rewriteRequestHeaders: forwardedHeaders,
    // They speak of the connection to the service, not of the client's (RFC 9110 §7.6.1).
    rewriteHeaders: ({
      connection: _connection,
      'keep-alive': _keepAlive,
      ...headers
    }: IncomingHttpHeaders) => headers,
  };
  const common = {
    upstream: upstream.url,
    undici: connections,
    destroyAgent: true,
    disableRequestLogging: true,
  };
  hideInternal(app, upstream);
  await app.register(httpProxy, {
    ...common,
    routes: upstream.prefixes.flatMap((prefix) => [prefix, `${prefix}/*`]),
    httpMethods: [...methods],
    replyOptions,
  });
  await app.register(httpProxy, {
    ...common,
    prefix: `/docs/${upstream.name}/json`,
    rewritePrefix: '/docs/json',
    routes: ['/'],
    httpMethods: ['GET'],
    replyOptions,
  });
}

type Caller = Pick<FastifyRequest, 'id' | 'ip' | 'method' | 'protocol' | 'headers'>;

/** Says who called. What the client says about that itself is dropped: the services believe the gateway. */
function forwardedHeaders(request: Caller, headers: IncomingHttpHeaders): IncomingHttpHeaders {
  const {
    forwarded: _forwarded,
    'x-real-ip': _realIp,
    'x-forwarded-port': _port,
    expect: _expect,
    ...kept
  } = headers;
  // Node has answered `Expect: 100-continue` itself, and Fastify doesn't read the body of these.
  if (request.method === 'GET' || request.method === 'HEAD') delete kept['content-length'];
  return {
    ...kept,
    'x-forwarded-for': request.ip.replace(/^::ffff:/, ''),
    'x-forwarded-proto': request.protocol,
    'x-forwarded-host': request.headers.host ?? '',
    'x-request-id': request.id,
  };
}
