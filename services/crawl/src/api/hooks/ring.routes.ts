import { invalidCredential, withDemand } from '@platform/auth';
import type { Readable } from 'node:stream';
import { type App, AppError } from '@platform/service-kit';
import type { FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import type { ApiContext } from '../context.js';
import type { HookVerification } from '../../domain/hook.js';
import { base } from '../params.js';
import { crawlAuthErrors } from '../authority.js';
import { errorResponses, Success } from '../responses.js';
import { ring, verifyRequest } from './service.js';

declare module 'fastify' {
  interface FastifyRequest {
    /** The verification of a request to a hook; null on every other route. */
    hookVerification: HookVerification | null;
  }
}

/** GitHub sends no event that is larger. The body is hashed as it arrives, and never kept. */
const MAX_BODY_BYTES = 25 * 1_048_576;

const tooLarge = (): AppError =>
  new AppError({ status: 413, code: 'PAYLOAD_TOO_LARGE', message: 'Request body is too large' });

/** Passes the body to the verification. A refused body isn't destroyed: that would close the connection before the response. */
async function readBody(payload: Readable, verification: HookVerification | null): Promise<void> {
  let length = 0;
  for await (const chunk of payload.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > MAX_BODY_BYTES) throw tooLarge();
    verification?.update(chunk);
  }
}

/** The route is public: a request proves that it knows the secret of its hook. */
export async function ringRoutes(app: App, ctx: ApiContext): Promise<void> {
  await app.register((scope: App, _options, done) => {
    scope.decorateRequest('hookVerification', null);
    // What a source sends is of any type, and its signature is of the bytes.
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser('*', ({ hookVerification }: FastifyRequest, payload: Readable) =>
      readBody(payload, hookVerification),
    );
    scope.post<{ Params: { readonly hookId: string } }>(
      `${base}/hooks/:hookId`,
      {
        onRequest: withDemand(
          async (request: FastifyRequest<{ Params: { readonly hookId: string } }>) => {
            request.hookVerification = await verifyRequest(ctx, request.params.hookId, request.headers);
          },
          { who: 'the source, with the secret of the hook', errors: [] },
        ),
        schema: {
          operationId: 'ringHook',
          tags: ['Crawl hooks'],
          summary: 'Ask for one run now, as the source of a connector that has changed',
          description:
            'The request is verified as the hook says, and its body is not read otherwise. All rings until the run starts, which is 30 seconds after the first one and not before the run in progress has ended, are one run. The response is the same for an unknown hook, an invalid request, and a connector without a schedule.',
          params: Type.Object({ hookId: Type.String() }),
          response: { 202: Success, ...errorResponses(401, 413, 429, invalidCredential(crawlAuthErrors)) },
        },
      },
      async ({ params, hookVerification }, reply) => {
        if (hookVerification) await ring(ctx, params.hookId, hookVerification);
        return reply.code(202).send({ success: true, message: 'Accepted' });
      },
    );
    done();
  });
}
