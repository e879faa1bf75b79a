import swagger from '@fastify/swagger';
import swaggerUi from '@fastify/swagger-ui';
import type { FastifyInstance } from 'fastify';
import { NOT_FOUND, sendError } from './errors.js';
import type { Upstream } from './upstream.js';

/** The plugin's own document, which would describe the gateway's routes and is therefore empty. */
const ownDocument = /^\/docs\/(?:json|yaml)(?:\?|$)/;

/** Serves one page at `/docs` for all services, whose documents are read from `/docs/<service>/json`. */
export async function registerDocs(app: FastifyInstance, upstreams: readonly Upstream[]): Promise<void> {
  await app.register(swagger, { openapi: { openapi: '3.1.0', info: { title: 'Gateway', version: '1' } } });
  await app.register(swaggerUi, {
    routePrefix: '/docs',
    // No `upgrade-insecure-requests`: this page is read over plain HTTP.
    staticCSP: {
      'default-src': "'self'",
      'style-src': ["'self'", "'unsafe-inline'"],
      'img-src': ["'self'", 'data:'],
      'frame-ancestors': "'none'",
    },
    uiHooks: {
      onRequest: (request, reply, done) => {
        void reply.header('x-content-type-options', 'nosniff');
        if (ownDocument.test(request.url)) sendError(reply, NOT_FOUND);
        else done();
      },
    },
    uiConfig: { urls: upstreams.map(({ name }) => ({ name, url: `/docs/${name}/json` })) },
  });
}
