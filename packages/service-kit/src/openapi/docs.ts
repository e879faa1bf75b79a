import swagger from '@fastify/swagger';
import swaggerUi from '@fastify/swagger-ui';
import type { FastifyInstance } from 'fastify';
import { nameSchemas } from './named-schemas.js';

export interface DocsOptions {
  readonly title: string;
  readonly description: string;
  readonly version: string;
}

/** OpenAPI 3.1 of all routes at `/docs/json`, and a page to read and try it at `/docs`. */
export async function registerDocs(app: FastifyInstance, options: DocsOptions): Promise<void> {
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: { title: options.title, description: options.description, version: options.version },
      components: {
        securitySchemes: {
          bearer: {
            type: 'http',
            scheme: 'bearer',
            description: 'A session token or a personal access token.',
          },
        },
      },
    },
    transformObject: (given) =>
      'openapiObject' in given ? nameSchemas(given.openapiObject) : given.swaggerObject,
  });
  await app.register(swaggerUi, { routePrefix: '/docs', staticCSP: true });
}
