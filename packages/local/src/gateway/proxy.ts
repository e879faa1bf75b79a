import { AsyncLocalStorage } from 'node:async_hooks';
import type { IncomingHttpHeaders } from 'node:http';
import httpProxy from '@fastify/http-proxy';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { Agent, type Dispatcher } from 'undici';
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
    app.all(path, { onRequest: refuse }, refuse);
}

/** Aborted when the client has left before its response: see {@link endWithClient}. */
const leaving = new AsyncLocalStorage<AbortSignal>();

/** Lets the requests to services end once their client has left: a worker that is gone must not be given a run. */
export function endWithClient(app: FastifyInstance): void {
  app.addHook('onRequest', (_request, reply, done) => {
    const gone = new AbortController();
    reply.raw.once('close', () => {
      if (!reply.raw.writableEnded) gone.abort();
    });
    leaving.run(gone.signal, done);
  });
}

/** Opens connections to a service. The proxy itself waits for a response that nobody wants any more. */
function openConnections() {
  const agent = new Agent({
    connections: MAX_CONNECTIONS,
    headersTimeout: ANSWER_TIMEOUT_MS,
    bodyTimeout: 0,
    connect: { timeout: CONNECT_TIMEOUT_MS },
  });
  type WithCallback = (
    options: Dispatcher.RequestOptions,
    callback: (error: Error | null, response: Dispatcher.ResponseData) => void,
  ) => void;
  const request: WithCallback = (options, callback) => {
    agent.request({ ...options, signal: leaving.getStore() ?? null }, callback);
  };
  return {
    // The proxy does not use the form that returns a promise.
    request: request as Dispatcher['request'],
    close: () => agent.close(),
    destroy: () => agent.destroy(),
  };
}

/** Forwards everything below the service's prefixes, with bodies as streams in both directions. */
export async function registerProxy(
  app: FastifyInstance,
  upstream: Upstream,
  methods: readonly string[],
): Promise<void> {
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
  hideInternal(app, upstream);
  await app.register(httpProxy, {
    upstream: upstream.url,
    undici: openConnections(),
    destroyAgent: true,
    disableRequestLogging: true,
    routes: [...(upstream.exact ?? []), ...upstream.prefixes.flatMap((prefix) => [prefix, `${prefix}/*`])],
    httpMethods: [...methods],
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
