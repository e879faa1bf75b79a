import { TOKEN_PATH } from '@platform/auth';
import { AppError, type App } from '@platform/service-kit';
import type { FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import { answers } from '../../openapi.js';
import type { IssueServiceToken } from './service.js';

const ServiceTokenBody = Type.Object({ grant_type: Type.Literal('client_credentials') });

const ServiceTokenAnswer = Type.Object(
  {
    access_token: Type.String(),
    token_type: Type.Literal('Bearer'),
    expires_in: Type.Integer({ description: 'Seconds.' }),
    scope: Type.String(),
  },
  { title: 'ServiceToken' },
);

/** HTTP Basic, as RFC 6749 §2.3.1 prefers. */
function readClient(request: FastifyRequest): [id: string, secret: string] {
  const [, encoded = ''] = /^basic +(\S+)$/i.exec(request.headers.authorization ?? '') ?? [];
  const [, id, secret] = /^([^:]*):(.*)$/.exec(Buffer.from(encoded, 'base64').toString()) ?? [];
  if (id === undefined || secret === undefined)
    throw new AppError({
      status: 401,
      code: 'INVALID_CLIENT',
      message: 'Send the client id and secret with HTTP Basic',
      headers: { 'www-authenticate': 'Basic realm="platform"' },
    });
  return [id, secret];
}

/** The platform's own services: the client credentials grant (RFC 6749 §4.4). */
export function serviceCredentialRoutes(app: App, issue: IssueServiceToken): void {
  app.post(
    TOKEN_PATH,
    {
      schema: {
        operationId: 'issueServiceToken',
        tags: ['Services'],
        summary: 'A short-lived credential for a service of the platform',
        consumes: ['application/x-www-form-urlencoded'],
        body: ServiceTokenBody,
        response: { 200: ServiceTokenAnswer, ...answers(400, 401) },
      },
    },
    async (request, reply) =>
      reply.header('cache-control', 'no-store').send(await issue(...readClient(request))),
  );
}
