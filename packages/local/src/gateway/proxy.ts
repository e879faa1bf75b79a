import type { IncomingHttpHeaders } from 'node:http';
import httpProxy from '@fastify/http-proxy';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { explainUpstreamFault, NOT_FOUND, sendError } from './errors.js';
import type { Upstream } from './upstream.js';

/**
 * The time limit until the first byte of a response, longer than the minute that delivering a mail may take. There is no
 * limit between two bytes, because a stream may pause.
 */
const ANSWER_TIMEOUT_MS = 75_000;
const CONNECT_TIMEOUT_MS = 2_000;
const MAX_CONNECTIONS = 128;

/**
 * Hides the routes between services from clients. The router that chooses the service decides this, too, so that no
 * spelling of a path reaches a hidden route.
 */
function hideInternal(app: FastifyInstance, { internal, errorShape }: Upstream): void {
  const refuse = (_request: FastifyRequest, reply: FastifyReply) =>
    void sendError(reply, NOT_FOUND, errorShape);
  for (const path of internal.flatMap((prefix) => [prefix, `${prefix}/*`]))
    // The hook refuses before the body is read.
    app.all(path, { schema: { hide: true }, onRequest: refuse }, refuse);
}

/** Forwards everything below the service's prefixes and its documentation, with bodies as streams in both directions. */
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
    // The client decides about retries; the proxy would repeat a GET on every 503.
    retryDelay: () => null,
    onError: (reply: unknown, { error }: { error: unknown }) =>
      void sendError(reply as FastifyReply, explainUpstreamFault(error), upstream.errorShape),
    rewriteRequestHeaders: forwardedHeaders,
    // These headers describe the connection to the service rather than that of the client (RFC 9110 §7.6.1).
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
    routes: [...(upstream.exact ?? []), ...upstream.prefixes.flatMap((prefix) => [prefix, `${prefix}/*`])],
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

/** Sets the headers about the caller. The client's own are dropped, because the services trust the gateway. */
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
