import { memberOf, requireScopes, requireService } from '@platform/auth';
import type { App } from '@platform/service-kit';
import type { FastifyRequest, onRequestAsyncHookHandler, preValidationHookHandler } from 'fastify';
import { requireAdminRole, requireScopedToken } from '../../authority.js';
import { answers, bearer } from '../../openapi.js';
import type { SmtpConfigurations } from '../smtp-configuration/service.js';
import { isTemplateType } from '../templates/view.js';
import { registerLargeJson } from './body.js';
import { keyInvalid, unknownTemplate } from './errors.js';
import type { preview } from './preview.js';
import {
  InternalMailBody,
  MailBody,
  PreviewAnswer,
  PreviewBody,
  SEND_BODY_BYTES_MAX,
  SendAnswer,
} from './schemas.js';
import type { EmailService, SendRequest } from './service.js';

const tags = ['Mail'];

function readIdempotency(request: FastifyRequest): SendRequest['idempotency'] {
  const key = request.headers['idempotency-key'];
  if (key === undefined) return undefined;
  if (typeof key !== 'string' || !/^[\x21-\x7e]{1,255}$/.test(key)) throw keyInvalid();
  return { key, digest: request.bodyDigest ?? '' };
}

/** Before the other faults of the body are looked for. */
const refuseUnknownTemplate: preValidationHookHandler = (request, _reply, done) => {
  const { emailTemplateType: type } = (request.body ?? {}) as { emailTemplateType?: unknown };
  if (type !== undefined && !isTemplateType(type)) throw unknownTemplate();
  done();
};

interface Deps {
  readonly emails: EmailService;
  readonly configurations: SmtpConfigurations;
}

const idempotencyHeader = {
  type: 'object',
  properties: {
    'idempotency-key': {
      type: 'string',
      description: 'The same key and body within 24 hours answer the first result again and send nothing.',
    },
  },
};

/** Personal access tokens with `SEND_MAIL`. */
function sendRoute(scope: App, { emails, configurations }: Deps): void {
  /** 404 and 400 of the configuration come before the body is read. */
  const requireConfiguration: onRequestAsyncHookHandler = async (request) => {
    await configurations.get(memberOf(request).orgId, request.id);
  };
  scope.post(
    '/api/v1/mail/emails/sendEmail',
    {
      bodyLimit: SEND_BODY_BYTES_MAX,
      onRequest: [scope.authenticate, requireScopedToken('SEND_MAIL'), requireConfiguration],
      preValidation: refuseUnknownTemplate,
      schema: {
        operationId: 'sendEmail',
        tags,
        summary: 'Send a template mail',
        security: bearer,
        headers: idempotencyHeader,
        body: MailBody,
        response: { 200: SendAnswer, ...answers(400, 401, 403, 404, 409, 413, 422, 429, 500) },
      },
    },
    async (request) => {
      const { orgId } = memberOf(request);
      const idempotency = readIdempotency(request);
      const configuration = await configurations.get(orgId, request.id);
      const data = await emails.send({
        orgId,
        configuration,
        body: request.body,
        ...(idempotency && { idempotency }),
      });
      return { data: { status: true, data } };
    },
  );
}

/** The platform's own services, for an organisation; the gateway doesn't route it. */
function internalSendRoute(scope: App, { emails, configurations }: Deps): void {
  scope.post(
    '/api/v1/mail/internal/sendEmail',
    {
      bodyLimit: SEND_BODY_BYTES_MAX,
      onRequest: [scope.authenticate, requireService('SEND_MAIL')],
      preValidation: refuseUnknownTemplate,
      schema: {
        operationId: 'sendEmailForOrganisation',
        tags: ['Services'],
        summary: "Send a template mail through an organisation's SMTP server",
        security: bearer,
        headers: idempotencyHeader,
        body: InternalMailBody,
        response: { 200: SendAnswer, ...answers(400, 401, 403, 404, 409, 413, 422, 429, 500) },
      },
    },
    async (request) => {
      const { orgId, ...body } = request.body;
      const idempotency = readIdempotency(request);
      const configuration = await configurations.get(orgId, request.id);
      const data = await emails.send({ orgId, configuration, body, ...(idempotency && { idempotency }) });
      return { data: { status: true, data } };
    },
  );
}

export async function sendRoutes(app: App, deps: Deps): Promise<void> {
  await app.register((scope: App, _options, done) => {
    registerLargeJson(scope, SEND_BODY_BYTES_MAX);
    sendRoute(scope, deps);
    internalSendRoute(scope, deps);
    done();
  });
}

/** Administrators: a session, or a token with `SEND_MAIL`. */
export function previewRoute(app: App, render: typeof preview): void {
  app.post(
    '/api/v1/mail/preview',
    {
      onRequest: [app.authenticate, requireScopes(['SEND_MAIL']), requireAdminRole],
      preValidation: refuseUnknownTemplate,
      schema: {
        operationId: 'previewEmail',
        tags,
        summary: 'Render a template; nothing is sent',
        security: bearer,
        body: PreviewBody,
        response: { 200: PreviewAnswer, ...answers(400, 401, 403) },
      },
    },
    (request) => render(request.body),
  );
}
