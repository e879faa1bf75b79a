import {
  INTROSPECTION_PATH,
  INTROSPECTION_SCOPE,
  IntrospectionBatch,
  IntrospectionBatchRequest,
  verifyCaller,
} from '@platform/auth';
import { type App, errorResponses } from '@platform/service-kit';
import type { Introspect } from './service.js';

const tags = ['Services'];
const MAX_BATCH_BYTES = 1_048_576;

/** For the platform's own services: introspection as in RFC 7662, of many tokens in one request. */
export function introspectionRoutes(app: App, introspect: Introspect): void {
  app.post(
    INTROSPECTION_PATH,
    {
      onRequest: app.authenticateService(INTROSPECTION_SCOPE),
      bodyLimit: MAX_BATCH_BYTES,
      schema: {
        operationId: 'introspectTokens',
        tags,
        summary: 'Introspect tokens: one answer each, in their order',
        body: IntrospectionBatchRequest,
        response: { 200: IntrospectionBatch, ...errorResponses(400, 401, 403) },
      },
    },
    async (request) => {
      const { tokens, clients = [] } = request.body;
      const results = tokens.map((token, index) => introspect(token, clients[index]));
      // The caller is verified in the same database statement as the tokens. Nothing is returned unless it is valid.
      const [, ...answers] = await Promise.all([verifyCaller(request), ...results]);
      return { results: answers };
    },
  );
}
