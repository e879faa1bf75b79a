import { type Context, context, propagation, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { isTracing, tracer } from './spans.js';

/** Probes, scrapes and polls of the signing keys arrive every few seconds, and their traces are of no use. */
const untraced = /^\/(?:health|metrics|docs|\.well-known\/jwks\.json)(?:\/|$)/;

/** Records a span for each request, a child of the caller's span. Adds no hook while tracing is off. */
export function registerRequestSpans(app: FastifyInstance): void {
  if (!isTracing()) return;
  const contexts = new WeakMap<FastifyRequest, Context>();
  app.addHook('onRequest', (request, _reply, done) => {
    const route = request.routeOptions.url;
    if (route !== undefined && untraced.test(route)) {
      done();
      return;
    }
    const parent = propagation.extract(context.active(), request.headers);
    const name = route === undefined ? request.method : `${request.method} ${route}`;
    const attributes = {
      'http.request.method': request.method,
      'url.scheme': request.protocol,
      ...(route !== undefined && { 'http.route': route }),
      'platform.request_id': request.id,
    };
    const span = tracer().startSpan(name, { kind: SpanKind.SERVER, attributes }, parent);
    const own = trace.setSpan(parent, span);
    contexts.set(request, own);
    context.with(own, () => {
      done();
    });
  });
  // Code that reads the body continues in the context of the socket instead of the request.
  app.addHook('preValidation', (request, _reply, done) => {
    context.with(contexts.get(request) ?? context.active(), () => {
      done();
    });
  });
  app.addHook('onResponse', (request, reply, done) => {
    const own = contexts.get(request);
    const span = own && trace.getSpan(own);
    span?.setAttribute('http.response.status_code', reply.statusCode);
    if (reply.statusCode >= 500) span?.setStatus({ code: SpanStatusCode.ERROR });
    span?.end();
    done();
  });
}
