import { getAccount } from '@platform/auth';
import { type App, tooManyWebhookSecrets } from '@platform/service-kit';
import type { FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import type { ApiContext } from '../context.js';
import { getActor } from '../actor.js';
import { administrators } from '../authority.js';
import { base } from '../params.js';
import { errorResponses, Success, successResponse } from '../responses.js';
import { EndpointBody, EndpointItem, EndpointPath, EndpointWithSecret, TestResult } from './schemas.js';
import { endpointInUse, tooManyEndpoints } from './errors.js';
import { createEndpoint, listEndpointsOf, removeEndpoint, rotateEndpoint, testEndpoint } from './service.js';

const tags = ['Crawl endpoints'];

const toKey = (request: FastifyRequest<{ Params: EndpointPath }>) => ({
  orgId: getAccount(request).orgId,
  endpointId: request.params.endpointId,
});

/** The routes are for administrators with `crawl:write`. */
function changeRoutes(app: App, ctx: ApiContext): void {
  const onRequest = administrators(app, 'crawl:write');
  app.post(
    `${base}/endpoints`,
    {
      onRequest,
      config: { isIdempotent: true },
      schema: {
        operationId: 'createEndpoint',
        tags,
        summary: 'Register an endpoint that crawls; its secret is shown once',
        description:
          'The URL is not called until it is tested or a run starts. Requests are signed (Standard Webhooks) with the secret, which is shown this once. Without an `Idempotency-Key`, a repeated request registers another endpoint.',
        body: EndpointBody,
        response: {
          201: successResponse(EndpointWithSecret),
          ...errorResponses(400, 401, 403, 409, tooManyEndpoints(100)),
        },
      },
    },
    async (request, reply) => {
      const data = await createEndpoint(ctx, getAccount(request).orgId, request.body, getActor(request));
      return reply.code(201).send({ success: true, message: 'Endpoint registered', data });
    },
  );
  app.post(
    `${base}/endpoints/:endpointId/rotate`,
    {
      onRequest,
      config: { isIdempotent: true },
      schema: {
        operationId: 'rotateEndpointSecret',
        tags,
        summary: 'Replace the secret; for a day, requests have the signature of the old one too',
        description: 'The new secret is shown this once. Up to 20 replaced secrets sign at a time.',
        params: EndpointPath,
        response: {
          200: successResponse(EndpointWithSecret),
          ...errorResponses(400, 401, 403, 404, tooManyWebhookSecrets()),
        },
      },
    },
    async (request) => {
      const data = await rotateEndpoint(ctx, toKey(request), getActor(request));
      return { success: true, message: 'Secret rotated', data };
    },
  );
  app.post(
    `${base}/endpoints/:endpointId/test`,
    {
      onRequest,
      schema: {
        operationId: 'testEndpoint',
        tags,
        summary: 'Send the endpoint a signed GET, which asks for no crawl',
        description:
          'Any answer but 3xx, 401, 403, 429 and 5xx counts as success. An organisation has five tests in progress at a time.',
        params: EndpointPath,
        response: { 200: successResponse(TestResult), ...errorResponses(400, 401, 403, 404, 429) },
      },
    },
    async (request) => {
      const data = await testEndpoint(ctx, toKey(request), request.id);
      return { success: true as const, message: 'Endpoint tested', data };
    },
  );
}

/** The routes are for administrators. */
export function endpointRoutes(app: App, ctx: ApiContext): void {
  app.get(
    `${base}/endpoints`,
    {
      onRequest: administrators(app, 'crawl:read'),
      schema: {
        operationId: 'listEndpoints',
        tags,
        summary: "The organisation's endpoints, without their secrets",
        description: 'Newest first; with when a replaced secret stops signing.',
        response: { 200: successResponse(Type.Array(EndpointItem)), ...errorResponses(401, 403) },
      },
    },
    async (request) => ({
      success: true as const,
      message: 'Endpoints retrieved',
      data: await listEndpointsOf(ctx, getAccount(request).orgId),
    }),
  );
  changeRoutes(app, ctx);
  app.delete(
    `${base}/endpoints/:endpointId`,
    {
      onRequest: administrators(app, 'crawl:delete'),
      schema: {
        operationId: 'removeEndpoint',
        tags,
        summary: 'Remove an endpoint that no schedule uses',
        description: 'An endpoint that a schedule uses is 409. It cannot be undone.',
        params: EndpointPath,
        response: { 200: Success, ...errorResponses(400, 401, 403, 404, 409, endpointInUse()) },
      },
    },
    async (request) => {
      await removeEndpoint(ctx, toKey(request), getActor(request));
      return { success: true as const, message: 'Endpoint removed' };
    },
  );
}
