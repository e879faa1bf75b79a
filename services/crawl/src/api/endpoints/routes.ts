import { getAccount } from '@platform/auth';
import type { App } from '@platform/service-kit';
import type { FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import { getActor } from '../actor.js';
import { administrators } from '../authority.js';
import { base } from '../params.js';
import { errorResponses, Success, successResponse } from '../responses.js';
import { EndpointBody, EndpointItem, EndpointPath, EndpointWithSecret, TestResult } from './schemas.js';
import type { EndpointService } from './service.js';

const tags = ['Crawl endpoints'];

const toKey = (request: FastifyRequest<{ Params: EndpointPath }>) => ({
  orgId: getAccount(request).orgId,
  endpointId: request.params.endpointId,
});

/** The routes are for administrators with `crawl:write`. */
function changeRoutes(app: App, service: EndpointService): void {
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
        body: EndpointBody,
        response: { 201: successResponse(EndpointWithSecret), ...errorResponses(400, 401, 403, 409) },
      },
    },
    async (request, reply) => {
      const data = await service.create(getAccount(request).orgId, request.body, getActor(request));
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
        params: EndpointPath,
        response: { 200: successResponse(EndpointWithSecret), ...errorResponses(400, 401, 403, 404, 409) },
      },
    },
    async (request) => {
      const data = await service.rotate(toKey(request), getActor(request));
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
        params: EndpointPath,
        response: { 200: successResponse(TestResult), ...errorResponses(400, 401, 403, 404, 429) },
      },
    },
    async (request) => {
      const data = await service.test(toKey(request), request.id);
      return { success: true as const, message: 'Endpoint tested', data };
    },
  );
}

/** The routes are for administrators. */
export function endpointRoutes(app: App, service: EndpointService): void {
  app.get(
    `${base}/endpoints`,
    {
      onRequest: administrators(app, 'crawl:read'),
      schema: {
        operationId: 'listEndpoints',
        tags,
        summary: "The organisation's endpoints, without their secrets",
        response: { 200: successResponse(Type.Array(EndpointItem)), ...errorResponses(401, 403) },
      },
    },
    async (request) => ({
      success: true as const,
      message: 'Endpoints retrieved',
      data: await service.list(getAccount(request).orgId),
    }),
  );
  changeRoutes(app, service);
  app.delete(
    `${base}/endpoints/:endpointId`,
    {
      onRequest: administrators(app, 'crawl:delete'),
      schema: {
        operationId: 'removeEndpoint',
        tags,
        summary: 'Remove an endpoint that no schedule uses',
        params: EndpointPath,
        response: { 200: Success, ...errorResponses(400, 401, 403, 404, 409) },
      },
    },
    async (request) => {
      await service.remove(toKey(request), getActor(request));
      return { success: true as const, message: 'Endpoint removed' };
    },
  );
}
