import type { App } from '@platform/service-kit';
import type { FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import type { ApiContext } from '../context.js';
import type { HookKey } from '../../domain/instance-key.js';
import { getActor } from '../actor.js';
import { administrators } from '../authority.js';
import { type ConnectorParams, instanceRoutes, type InstanceRoutes, toInstanceKey } from '../params.js';
import { errorResponses, Success, successResponse } from '../responses.js';
import { HookBody, HookItem, hookParams, HookWithSecret, RotateHookBody } from './schemas.js';
import { tooManyHooks } from './errors.js';
import { createHook, listHooksOf, removeHook, rotateHook } from './service.js';

const tags = ['Crawl hooks'];

const toHookKey = (request: FastifyRequest<{ Params: ConnectorParams & { hookId: string } }>): HookKey => ({
  ...toInstanceKey(request),
  hookId: request.params.hookId,
});

/** The routes are for administrators. */
function hookRoutesOf(app: App, ctx: ApiContext, { path, params, toOperationId }: InstanceRoutes): void {
  app.get(
    `${path}/hooks`,
    {
      onRequest: administrators(app, 'crawl:read'),
      schema: {
        operationId: toOperationId('listHooks'),
        tags,
        summary: "A connector's hooks, without their secrets",
        description: 'Says when each was last rung. An instance has at most 10.',
        params: params({}),
        response: { 200: successResponse(Type.Array(HookItem)), ...errorResponses(400, 401, 403) },
      },
    },
    async (request) => ({
      success: true as const,
      message: 'Hooks retrieved',
      data: await listHooksOf(ctx, toInstanceKey(request)),
    }),
  );
  app.post(
    `${path}/hooks`,
    {
      onRequest: administrators(app, 'crawl:write'),
      config: { isIdempotent: true },
      schema: {
        operationId: toOperationId('createHook'),
        tags,
        summary: 'Create an address at which the source asks for a run; its secret is shown once',
        description: 'Give the address and the secret to the source. An instance has at most 10 hooks.',
        params: params({}),
        body: HookBody,
        response: {
          201: successResponse(HookWithSecret),
          ...errorResponses(400, 401, 403, 404, 409, tooManyHooks(10)),
        },
      },
    },
    async (request, reply) => {
      const data = await createHook(ctx, toInstanceKey(request), request.body, getActor(request));
      return reply.code(201).send({ success: true, message: 'Hook created', data });
    },
  );
  app.post(
    `${path}/hooks/:hookId/rotate`,
    {
      onRequest: administrators(app, 'crawl:write'),
      config: { isIdempotent: true },
      schema: {
        operationId: toOperationId('rotateHookSecret'),
        tags,
        summary: 'Replace the secret; for a day, the old one is accepted too',
        description:
          'The new secret is generated, or given where the source chooses it. It is shown this once.',
        params: params(hookParams),
        body: RotateHookBody,
        response: { 200: successResponse(HookWithSecret), ...errorResponses(400, 401, 403, 404) },
      },
    },
    async (request) => {
      const data = await rotateHook(ctx, toHookKey(request), request.body?.secret, getActor(request));
      return { success: true, message: 'Secret rotated', data };
    },
  );
  app.delete(
    `${path}/hooks/:hookId`,
    {
      onRequest: administrators(app, 'crawl:delete'),
      schema: {
        operationId: toOperationId('removeHook'),
        tags,
        summary: 'Remove a hook; its address answers as if it had never existed',
        description: 'It cannot be undone: a new hook has another address.',
        params: params(hookParams),
        response: { 200: Success, ...errorResponses(400, 401, 403, 404) },
      },
    },
    async (request) => {
      await removeHook(ctx, toHookKey(request), getActor(request));
      return { success: true as const, message: 'Hook removed' };
    },
  );
}

export function hookRoutes(app: App, ctx: ApiContext): void {
  for (const routes of instanceRoutes) hookRoutesOf(app, ctx, routes);
}
