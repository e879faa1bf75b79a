import swagger from '@fastify/swagger';
import swaggerUi from '@fastify/swagger-ui';
import type { FastifyInstance } from 'fastify';
import type { ErrorFormat } from '../error-format.js';
import { VERSION } from '../version.js';
import { type Audience, publishDocument } from './publish.js';

export interface DocsOptions {
  readonly service: string;
  /** Services whose documents the page offers beside its own; the gateways route `/docs/<service>` to them. */
  readonly otherDocs?: readonly string[];
  readonly title: string;
  readonly description: string;
  readonly errors: ErrorFormat;
  /** What each tag is about, by name, in the order in which they are shown. */
  readonly tags?: Readonly<Record<string, string>>;
}

/** What no schema says. */
const COMMON_RULES =
  'Requests fail with 400 when a query parameter is unknown or repeated, or when a JSON body nests deeper than 64 levels, has more than 10,000 values, the key `__proto__`, or a text with NUL or an unpaired surrogate.';

/**
 * Serves the OpenAPI 3.1 document of the public routes at `/docs/json` and `/docs/<service>/json`, and a page to read and
 * try it at `/docs`. The document of the routes between services is at `/internal/openapi.json`, which gateways do not
 * route. Each document is built when it is first requested.
 */
export async function registerDocs(app: FastifyInstance, options: DocsOptions): Promise<void> {
  const { service, otherDocs = [], title, description, errors, tags = {} } = options;
  const securitySchemes = {};
  app.decorate('securitySchemes', securitySchemes);
  await app.register(swagger, {
    convertConstToEnum: false,
    openapi: {
      openapi: '3.1.0',
      info: {
        title,
        description: `${description} ${COMMON_RULES}`,
        version: VERSION,
        license: { name: 'Apache License 2.0', identifier: 'Apache-2.0' },
      },
      components: { securitySchemes },
      servers: [{ url: '/', description: 'The gateway that this document is read from.' }],
    },
  });
  const documents = new Map<Audience, Readonly<Record<string, unknown>>>();
  function documentFor(audience: Audience): Readonly<Record<string, unknown>> {
    const document = documents.get(audience) ?? publishDocument({ ...app.swagger() }, errors, tags, audience);
    documents.set(audience, document);
    return document;
  }
  await app.register(swaggerUi, {
    routePrefix: '/docs',
    // No `upgrade-insecure-requests`: the page is also read over plain HTTP.
    staticCSP: {
      'default-src': "'self'",
      'style-src': ["'self'", "'unsafe-inline'"],
      'img-src': ["'self'", 'data:'],
      'frame-ancestors': "'none'",
    },
    uiConfig: { urls: [service, ...otherDocs].map((name) => ({ name, url: `/docs/${name}/json` })) },
    transformSpecification: () => documentFor('everyone'),
    transformSpecificationClone: false,
  });
  app.get(`/docs/${service}/json`, { schema: { hide: true } }, () => documentFor('everyone'));
  app.get('/internal/openapi.json', { schema: { hide: true } }, () => documentFor('services'));
}
