import { type IncomingMessage, METHODS, type ServerResponse } from 'node:http';
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import fastify, {
  type FastifyBaseLogger,
  type FastifyError,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  LogController,
  type RawServerDefault,
} from 'fastify';
import type { Registry } from 'prom-client';
import { trackAllowedMethods } from './allowed-methods.js';
import type { ErrorFormat } from '../error-format.js';
import type { AppError } from '../errors.js';
import { type Health, registerHealth } from './health.js';
import { registerJsonBody } from './body/json-body.js';
import type { Logger } from '../telemetry/logging.js';
import { registerMetrics } from '../telemetry/metrics.js';
import { REQUEST_ID_FIELD, getRequestId } from './request-id.js';
import { isHeaderRepeated } from './repeated-header.js';
import { createRequestsInProgress, type RequestsInProgress } from './requests-in-progress.js';
import { securityHeadersFor } from './security-headers.js';
import { createServerErrorLog } from '../telemetry/server-error-log.js';
import { type BodyTimeouts, limitBodyTime } from './body/body-timeout.js';
import { createClientErrorHandler, registerExpectations } from './client-errors.js';
import { refuseCodedBodies } from './body/content-coding.js';
import { toStatusError, translateError } from './translate-error.js';
import { registerRequestSpans } from '../telemetry/tracing/request-spans.js';
import { registerDocs } from '../openapi/docs.js';
import { createValidatorCompiler } from './validation.js';

/** A Fastify instance whose handlers get their types from the TypeBox schemas of the route. */
export type App = FastifyInstance<
  RawServerDefault,
  IncomingMessage,
  ServerResponse,
  FastifyBaseLogger,
  TypeBoxTypeProvider
>;

export interface AppOptions {
  /** Short name of the service: logs, metrics, documentation. */
  readonly service: string;
  readonly title: string;
  readonly description: string;
  readonly version: string;
  readonly errors: ErrorFormat;
  readonly log: Logger;
  /** Addresses or CIDR ranges of proxies whose `X-Forwarded-*` is believed. */
  readonly trustProxy?: readonly string[];
  /** Largest body of a route that doesn't say otherwise, in bytes. Default 64 KiB. */
  readonly maxBodyBytes?: number;
  /** Default: 10 s of standing still, 30 s in all. */
  readonly bodyTimeouts?: BodyTimeouts;
}

export interface ServiceApp {
  readonly app: App;
  readonly health: Health;
  readonly metrics: Registry;
  readonly requests: RequestsInProgress;
}

/** Of requests whose end can't be told, or doesn't come: nothing of them is read on. */
const CLOSING_STATUSES: ReadonlySet<number> = new Set([400, 408]);

/**
 * Creates a handler that sends errors in the service's format. It logs server errors with their cause and the request's
 * id; client errors are only sent.
 */
export function createErrorHandler(format: ErrorFormat) {
  const logServerError = createServerErrorLog();
  const bodies = new WeakMap<AppError, string>();
  const render = (error: AppError) =>
    format.render({
      status: error.statusCode,
      code: error.code,
      message: error.message,
      details: error.details,
    });
  function renderOnce(error: AppError): string {
    const rendered = bodies.get(error);
    if (rendered !== undefined) return rendered;
    const body = JSON.stringify(render(error));
    bodies.set(error, body);
    return body;
  }
  return (thrown: unknown, request: FastifyRequest, reply: FastifyReply): void => {
    const error: AppError = translateError(thrown);
    if (error.statusCode >= 500) {
      const { message, statusCode } = error;
      logServerError(request.log, { error: error.cause ?? error, message, isOutage: statusCode === 503 });
    }
    if (error.headers) void reply.headers(error.headers);
    if (reply.hasHeader('connection') && !CLOSING_STATUSES.has(error.statusCode) && !request.raw.complete)
      discardBody(request, reply);
    void reply.code(error.statusCode);
    if (error.isReused) void reply.type('application/json; charset=utf-8').send(renderOnce(error));
    else void reply.send(render(error));
  };
}

/**
 * Reads what is left of a refused body and throws it away, until the request's own time-out at the latest. Fastify would
 * close the connection at once: a client that still writes then finds it reset, the answer lost, and a gateway makes a
 * 502 of that.
 */
function discardBody(request: FastifyRequest, reply: FastifyReply): void {
  void reply.removeHeader('connection');
  // The copy that the body's time is measured by is full, and would stop the flow again.
  request.raw.unpipe().resume();
}

function registerNotFound(app: App, format: ErrorFormat): void {
  const getMethods = trackAllowedMethods(app);
  // No route takes it, and Fastify would refuse one without a content type before it looks for the route.
  if (METHODS.includes('QUERY')) app.addHttpMethod('QUERY', { overrideExisting: true });
  const handle = createErrorHandler(format);
  app.setNotFoundHandler((request, reply) => {
    const allowed = getMethods(request.url.split('?', 1)[0] ?? '/');
    if (allowed && !allowed.includes(request.method)) void reply.header('allow', allowed.join(', '));
    handle(toStatusError(allowed && !allowed.includes(request.method) ? 405 : 404), request, reply);
  });
}

/**
 * One line per request isn't free, and a flood of refusals would flood the log: the metrics count
 * them all, `debug` shows them. Server errors are logged where they are handled.
 */
function registerRequestLog(app: App): void {
  if (!['debug', 'trace'].includes(app.log.level)) return;
  app.addHook('onResponse', (request, reply, done) => {
    request.log.debug({ req: request, res: reply, ms: reply.elapsedTime }, 'request completed');
    done();
  });
}

/**
 * Whether two parsers could disagree about where the request ends or whom it is for: not exactly one `Host` in HTTP/1.1
 * (RFC 9112 §3.2), or chunks in HTTP/1.0 (RFC 9112 §6.1).
 */
function isMalformed({ headers, httpVersion, rawHeaders }: IncomingMessage): boolean {
  if (httpVersion === '1.0' && headers['transfer-encoding'] !== undefined) return true;
  return (headers.host === undefined && httpVersion === '1.1') || isHeaderRepeated(rawHeaders, 'host');
}

/** Node's own limit, behind that of bodies: for heads, and what no route reads. */
const REQUEST_TIMEOUT_MS = 40_000;
const CONNECTIONS_CHECK_MS = 5_000;

/**
 * The app every service starts from. It doesn't listen; routes are registered by the caller.
 */
export async function createApp(options: AppOptions): Promise<ServiceApp> {
  const loggerInstance: FastifyBaseLogger = options.log;
  const requests = createRequestsInProgress();
  const app: App = fastify({
    loggerInstance,
    logController: new LogController({ disableRequestLogging: true, requestIdLogLabel: REQUEST_ID_FIELD }),
    genReqId: getRequestId,
    trustProxy: options.trustProxy && options.trustProxy.length > 0 ? [...options.trustProxy] : false,
    bodyLimit: options.maxBodyBytes ?? 65_536,
    forceCloseConnections: 'idle',
    // A request that arrives while the server closes is still answered.
    return503OnClosing: false,
    requestTimeout: REQUEST_TIMEOUT_MS,
    keepAliveTimeout: 72_000,
    clientErrorHandler: createClientErrorHandler(options.errors, requests),
    frameworkErrors: (error: FastifyError, request: FastifyRequest, reply: FastifyReply) => {
      // Found before the hooks run, so what they set is set here.
      void reply.headers(securityHeadersFor(request)).header('x-request-id', request.id);
      createErrorHandler(options.errors)(error, request, reply);
    },
    // Node's own refusal has no shape: the hook below refuses instead.
    http: { requireHostHeader: false, connectionsCheckingInterval: CONNECTIONS_CHECK_MS },
    routerOptions: { ignoreDuplicateSlashes: false, ignoreTrailingSlash: false },
  }).withTypeProvider<TypeBoxTypeProvider>();

  requests.watch(app.server);
  app.setValidatorCompiler(createValidatorCompiler());
  app.setErrorHandler(createErrorHandler(options.errors));
  registerNotFound(app, options.errors);
  registerExpectations(app, options.errors);
  const health: Health = { isStopping: false, checks: new Map() };
  app.addHook('onRequest', (request, reply, done) => {
    // Gateways then open their next connection to another replica.
    if (health.isStopping) void reply.header('connection', 'close');
    reply.headers(securityHeadersFor(request)).header('x-request-id', request.id);
    if (isMalformed(request.raw)) {
      void reply.header('connection', 'close');
      throw toStatusError(400);
    }
    // No text of ours may hold NUL, and PostgreSQL's can't.
    if (!request.is404 && request.url.includes('%00')) throw toStatusError(400);
    done();
  });
  registerRequestSpans(app);
  refuseCodedBodies(app);
  limitBodyTime(app, options.bodyTimeouts ?? { stallMs: 10_000, totalMs: 30_000 });
  registerJsonBody(app);
  registerRequestLog(app);
  const metrics = registerMetrics(app, options.service);
  registerHealth(app, health);
  await registerDocs(app, options);
  return { app, health, metrics, requests };
}
