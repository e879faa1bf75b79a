import {
  Introspection,
  INTROSPECTION_BATCH_PATH,
  INTROSPECTION_PATH,
  INTROSPECTION_SCOPE,
  IntrospectionBatch,
  IntrospectionBatchRequest,
  type Presentation,
  verifyCaller,
} from '@platform/auth';
import type { App } from '@platform/service-kit';
import type { FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import { errorResponses, bearer } from '../../openapi.js';
import type { Introspect } from './service.js';

const tags = ['Services'];
const MAX_BATCH_BYTES = 1_048_576;

const IntrospectionRequest = Type.Object({
  token: Type.String({ minLength: 1, maxLength: 4_096 }),
  token_type_hint: Type.Optional(Type.String()),
});

/** For the platform's own services: token introspection (RFC 7662). */
export function introspectionRoutes(app: App, introspect: Introspect): void {
  const onRequest = app.authenticateService(INTROSPECTION_SCOPE);
  /** Verifies the caller in the same database statement as the tokens. Nothing is returned unless the caller is valid. */
  async function introspectAll(
    request: FastifyRequest,
    tokens: readonly string[],
    clients: readonly Presentation[] = [],
  ): Promise<Introspection[]> {
    const asked = tokens.map((token, index) => introspect(token, clients[index]));
    const [, ...results] = await Promise.all([verifyCaller(request), ...asked]);
    return results;
  }
  app.post(
    INTROSPECTION_PATH,
    {
      onRequest,
      schema: {
        operationId: 'introspectToken',
        tags,
        summary: 'Introspect a token',
        security: bearer,
        consumes: ['application/x-www-form-urlencoded'],
        body: IntrospectionRequest,
        response: { 200: Introspection, ...errorResponses(400, 401, 403) },
      },
    },
    async (request, reply) => {
      const [result] = await introspectAll(request, [request.body.token]);
      return reply.header('cache-control', 'no-store').send(result);
    },
  );
  app.post(
    INTROSPECTION_BATCH_PATH,
    {
      onRequest,
      bodyLimit: MAX_BATCH_BYTES,
      schema: {
        operationId: 'introspectTokens',
        tags,
        summary: 'Introspect many tokens: one answer each, in their order',
        security: bearer,
        body: IntrospectionBatchRequest,
        response: { 200: IntrospectionBatch, ...errorResponses(400, 401, 403) },
      },
    },
    async (request, reply) =>
      reply
        .header('cache-control', 'no-store')
        .send({ results: await introspectAll(request, request.body.tokens, request.body.clients) }),
  );
}
