import {
  Introspection,
  INTROSPECTION_BATCH_PATH,
  INTROSPECTION_PATH,
  INTROSPECTION_SCOPE,
  IntrospectionBatch,
  IntrospectionBatchRequest,
  requireService,
} from '@platform/auth';
import type { App } from '@platform/service-kit';
import { Type } from 'typebox';
import { answers, bearer } from '../../openapi.js';
import type { Introspect } from './service.js';

const tags = ['Services'];
const BATCH_BYTES_MAX = 1_048_576;

const IntrospectionRequest = Type.Object({
  token: Type.String({ minLength: 1, maxLength: 4_096 }),
  token_type_hint: Type.Optional(Type.String()),
});

/** The platform's own services: is this credential alive, and whose is it (RFC 7662)? */
export function introspectionRoutes(app: App, introspect: Introspect): void {
  const onRequest = [app.authenticate, requireService(INTROSPECTION_SCOPE)];
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
        response: { 200: Introspection, ...answers(400, 401, 403) },
      },
    },
    async (request, reply) =>
      reply.header('cache-control', 'no-store').send(await introspect(request.body.token)),
  );
  app.post(
    INTROSPECTION_BATCH_PATH,
    {
      onRequest,
      bodyLimit: BATCH_BYTES_MAX,
      schema: {
        operationId: 'introspectTokens',
        tags,
        summary: 'Introspect many tokens: one answer each, in their order',
        security: bearer,
        body: IntrospectionBatchRequest,
        response: { 200: IntrospectionBatch, ...answers(400, 401, 403) },
      },
    },
    // The pipeline gathers the questions into one statement by itself.
    async (request, reply) =>
      reply
        .header('cache-control', 'no-store')
        .send({ results: await Promise.all(request.body.tokens.map((token) => introspect(token))) }),
  );
}
