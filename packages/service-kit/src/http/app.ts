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
import { type Health, registerHealth } from './health.js';
import { registerJsonBody } from './body/json-body.js';
import type { Logger } from '../telemetry/logging.js';
import { registerMetrics } from '../telemetry/metrics.js';
import { REQUEST_ID_FIELD, getRequestId } from './request-id.js';
import { isHeaderRepeated } from './repeated-header.js';
import { createRequestsInProgress, type RequestsInProgress } from './requests-in-progress.js';
import { securityHeadersFor } from './security-headers.js';
import { type BodyTimeouts, limitBodyTime } from './body/body-timeout.js';
import { createClientErrorHandler, registerExpectations } from './client-errors.js';
import { refuseCodedBodies } from './body/content-coding.js';
import { type AppError, toStatusError } from '../errors.js';
import { registerRequestSpans } from '../telemetry/tracing/request-spans.js';
import { registerDocs } from '../openapi/docs.js';
import { createSerializerCompiler, createValidatorCompiler } from './validation.js';
import { createErrorHandler } from './error-handler.js';

declare module 'fastify' {
  interface FastifyInstance {
    /** How callers of the documented routes authenticate, in OpenAPI's form; what registers authentication adds to it. */
    securitySchemes: Record<string, object>;
  }
}

/** A Fastify instance whose handlers get their types from the TypeBox schemas of the route. */
export type App = FastifyInstance<
  RawServerDefault,
  IncomingMessage,
  ServerResponse,
  FastifyBaseLogger,
  TypeBoxTypeProvider
>;

export interface AppOptions {
  /** Short name of the service for logs, metrics and documentation. */
  readonly service: string;
  readonly title: string;
  readonly description: string;
  /** See {@link registerDocs}. */
  readonly otherDocs?: readonly string[];
  /** See {@link registerDocs}. */
  readonly tags?: Readonly<Record<string, string>>;
  readonly errors: ErrorFormat;
  readonly log: Logger;
  /** The commit that the program was built from, for `/health`. */
  readonly commit?: string;
  /** Addresses or CIDR ranges of the proxies whose `X-Forwarded-*` headers are trusted. */
  readonly trustProxy?: readonly string[];
  /** Largest body of a route that doesn't say otherwise, in bytes. Default 64 KiB. */
  readonly maxBodyBytes?: number;
  /** The default is 10 s without data and 30 s in total. */
  readonly bodyTimeouts?: BodyTimeouts;
  /** Answers a request without a route, and returns true, where it is not to be answered in the error format. */
  readonly showNotFound?: (refusal: AppError, request: FastifyRequest, reply: FastifyReply) => boolean;
}

export interface ServiceApp {
  readonly app: App;
  readonly health: Health;
  readonly metrics: Registry;
  readonly requests: RequestsInProgress;
}

function registerNotFound(app: App, { errors: format, showNotFound }: AppOptions): void {
  const createRefusal = trackAllowedMethods(app);
  // No route accepts QUERY, and Fastify would refuse one without a content type before it looks up the route.
  if (METHODS.includes('QUERY')) app.addHttpMethod('QUERY', { overrideExisting: true });
  const handle = createErrorHandler(format);
  app.setNotFoundHandler((request, reply) => {
    const refusal = createRefusal(request.method, request.url);
    if (!showNotFound?.(refusal, request, reply)) handle(refusal, request, reply);
  });
}

/**
 * Logs each request on `debug`. A line per request is not free, and a flood of refusals would flood the log, so other
 * levels rely on the metrics. Server errors are logged where they are handled.
 */
function registerRequestLog(app: App): void {
  if (!['debug', 'trace'].includes(app.log.level)) return;
  app.addHook('onResponse', (request, reply, done) => {
    request.log.debug({ req: request, res: reply, ms: reply.elapsedTime }, 'request completed');
    done();
  });
}

/**
 * Returns whether two parsers could disagree about the end or the target of the request. That is so in HTTP/1.1 without
 * exactly one `Host` (RFC 9112 §3.2), and in HTTP/1.0 with chunks (RFC 9112 §6.1).
 */
function isMalformed({ headers, httpVersion, rawHeaders }: IncomingMessage): boolean {
  if (httpVersion === '1.0' && headers['transfer-encoding'] !== undefined) return true;
  return (headers.host === undefined && httpVersion === '1.1') || isHeaderRepeated(rawHeaders, 'host');
}

/** Node's own time limit, beyond that of bodies. It covers heads, and bodies that no route reads. */
const REQUEST_TIMEOUT_MS = 40_000;
const CONNECTIONS_CHECK_MS = 5_000;

/**
 * Creates the app that every service starts from. It does not listen yet; the caller registers the routes.
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
      // These errors occur before the hooks run, so the headers of the hooks are set here.
      void reply.headers(securityHeadersFor(request)).header('x-request-id', request.id);
      createErrorHandler(options.errors)(error, request, reply);
    },
    // Node's own refusal does not have the error format, so the hook below refuses instead.
    http: { requireHostHeader: false, connectionsCheckingInterval: CONNECTIONS_CHECK_MS },
    // Parameters are as long as their schemas allow; the router's own limit of 100 characters would refuse some.
    routerOptions: { ignoreDuplicateSlashes: false, ignoreTrailingSlash: false, maxParamLength: 2_048 },
  }).withTypeProvider<TypeBoxTypeProvider>();

  requests.watch(app.server);
  app.setValidatorCompiler(createValidatorCompiler());
  app.setSerializerCompiler(createSerializerCompiler());
  app.setErrorHandler(createErrorHandler(options.errors));
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
    // PostgreSQL cannot store NUL in a text.
    if (!request.is404 && request.url.includes('%00')) throw toStatusError(400);
    done();
  });
  registerNotFound(app, options);
  registerRequestSpans(app);
  refuseCodedBodies(app);
  limitBodyTime(app, options.bodyTimeouts ?? { stallMs: 10_000, totalMs: 30_000 });
  registerJsonBody(app);
  registerRequestLog(app);
  const metrics = registerMetrics(app, options.service, options.commit ?? 'unknown');
  registerHealth(app, health, options.commit);
  await registerDocs(app, options);
  return { app, health, metrics, requests };
}
