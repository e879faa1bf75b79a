import { getAccount, requireScopedToken, requireService } from '@platform/auth';
import type { App } from '@platform/service-kit';
import type {
  FastifyRequest,
  onRequestAsyncHookHandler,
  preValidationAsyncHookHandler,
  preValidationHookHandler,
} from 'fastify';
import type { SmtpConfigurations } from '../smtp-configuration/service.js';
import { type SmtpConfiguration, readSmtpConfiguration } from '../smtp-configuration/configuration.js';
import { configurationIncomplete } from '../smtp-configuration/errors.js';
import { isInternalTemplateType, isTemplateType } from '../templates/template-types.js';
import { isNoticeCode } from '../templates/view.js';
import { registerLargeJson } from './body.js';
import { keyInvalid, unknownTemplate } from './errors.js';
import { InternalMailBody, MailBody, MAX_SEND_BODY_BYTES } from './schemas.js';
import type { Idempotency } from './send-request.js';
import type { EmailService } from './service.js';
import { getResponseDeadlines, sendResponses, prepareResponse } from './send-response.js';

const tags = ['Mail'];

const KEY = /^[\x21-\x7e]{1,255}$/;

function readIdempotency({ headers, bodyDigest }: FastifyRequest): Idempotency | undefined {
  const key = headers['idempotency-key'];
  if (key === undefined) return undefined;
  if (typeof key !== 'string' || !KEY.test(key)) throw keyInvalid();
  return { key, digest: bodyDigest ?? '' };
}

/** Refuses an unknown template before the rest of the body is validated. */
const refuseTemplateUnless =
  (isKnown: (type: unknown) => boolean): preValidationHookHandler =>
  (request, _reply, done) => {
    const { emailTemplateType: type } = (request.body ?? {}) as { emailTemplateType?: unknown };
    if (type !== undefined && !isKnown(type)) throw unknownTemplate();
    done();
  };
export const refuseUnknownTemplate = refuseTemplateUnless(isTemplateType);

/** Services keep a mail whose notice an older version does not know yet, as one of an unknown template. */
const refuseUnknownNotice: preValidationHookHandler = (request, _reply, done) => {
  const { templateData } = (request.body ?? {}) as { templateData?: { notice?: unknown } | null };
  const notice = templateData?.notice;
  if (typeof notice === 'string' && !isNoticeCode(notice)) throw unknownTemplate();
  done();
};

/** @throws AppError 400 when the configuration is incomplete. */
function readSnapshot(smtp: InternalMailBody['smtp']): SmtpConfiguration {
  const configuration = readSmtpConfiguration(smtp);
  if (!configuration) throw configurationIncomplete();
  return configuration;
}

interface Deps {
  readonly emails: EmailService;
  readonly configurations: SmtpConfigurations;
  /** The time limit from the first byte of a request to the response. */
  readonly deadlineMs: number;
}

const headers = {
  type: 'object',
  properties: {
    'idempotency-key': {
      type: 'string',
      'x-documented': { pattern: '^[!-~]{1,255}$' },
      description:
        'Repeating the key with the same body within 24 hours returns the first result and sends nothing.',
    },
    prefer: {
      type: 'string',
      description:
        '`respond-async` (RFC 7240) queues the mail, which is tried until it expires, and returns 202 when the outcome is not known after `wait=<seconds>`, or immediately without `wait`. `wait` alone limits how long the request waits for the outcome.',
    },
  },
};

/**
 * Recognises a repeated request before the configuration, the limits and the body are checked, so that it always gets the
 * first result. All other requests need a configuration before their bodies are read.
 */
const findReplay =
  ({ emails, configurations }: Deps): onRequestAsyncHookHandler =>
  async (request) => {
    const { orgId } = getAccount(request);
    const key = request.headers['idempotency-key'];
    request.isReplay =
      typeof key === 'string' && KEY.test(key) && (await emails.findEarlier(orgId, key)) !== undefined;
    if (!request.isReplay) await configurations.get(orgId, request.id);
  };

const sendReplay =
  ({ emails, deadlineMs }: Deps): preValidationAsyncHookHandler =>
  async (request, reply) => {
    const idempotency = readIdempotency(request);
    if (!request.isReplay || !idempotency) return undefined;
    const deadlines = getResponseDeadlines(request, reply, deadlineMs);
    const submission = await emails.replay(getAccount(request).orgId, idempotency, deadlines);
    return reply.send(prepareResponse(reply, submission));
  };

/** Registers the public route, which requires a personal access token with `SEND_MAIL`. */
function sendRoute(scope: App, deps: Deps): void {
  scope.post(
    '/api/v1/mail/emails/sendEmail',
    {
      bodyLimit: MAX_SEND_BODY_BYTES,
      onRequest: [scope.authenticate, requireScopedToken('SEND_MAIL'), findReplay(deps)],
      preValidation: [sendReplay(deps), refuseUnknownTemplate],
      schema: {
        operationId: 'sendEmail',
        tags,
        summary: 'Send a template mail',
        description:
          'Waits for the SMTP server, and answers 200 when it has accepted the mail; with `Prefer: respond-async` it is queued and answered with 202. With an `Idempotency-Key`, a repeated request gets the first result instead of sending twice. Suppressed addresses get nothing.',
        headers,
        body: MailBody,
        response: sendResponses,
      },
    },
    async (request, reply) => {
      const { orgId, userId: senderId } = getAccount(request);
      const submission = await deps.emails.send({
        orgId,
        senderId,
        configuration: await deps.configurations.get(orgId, request.id),
        body: request.body,
        idempotency: readIdempotency(request),
        deadlines: getResponseDeadlines(request, reply, deps.deadlineMs),
        isFromService: false,
      });
      return prepareResponse(reply, submission);
    },
  );
}

/** Registers the route for the platform's own services, which the gateway doesn't expose. */
function internalSendRoute(scope: App, { emails, configurations, deadlineMs }: Deps): void {
  scope.post(
    '/api/v1/mail/internal/sendEmail',
    {
      bodyLimit: MAX_SEND_BODY_BYTES,
      onRequest: [scope.authenticate, requireService('SEND_MAIL')],
      preValidation: [refuseTemplateUnless(isInternalTemplateType), refuseUnknownNotice],
      schema: {
        operationId: 'sendEmailForOrganisation',
        tags: ['Services'],
        summary: "Send a template mail through an organisation's SMTP server",
        headers,
        body: InternalMailBody,
        response: sendResponses,
      },
    },
    async (request, reply) => {
      const { orgId, smtp, expiresAt, ...body } = request.body;
      const idempotency = readIdempotency(request);
      const deadlines = getResponseDeadlines(request, reply, deadlineMs);
      // The body names the organisation, so a repeated request can only be recognised after the body has been read.
      if (idempotency && (await emails.findEarlier(orgId, idempotency.key)))
        return prepareResponse(reply, await emails.replay(orgId, idempotency, deadlines));
      return prepareResponse(
        reply,
        await emails.send({
          orgId,
          configuration: smtp ? readSnapshot(smtp) : await configurations.get(orgId, request.id),
          smtp,
          body,
          idempotency,
          deadlines,
          isFromService: true,
          ...(expiresAt !== undefined && { expiresAt: Date.parse(expiresAt) }),
        }),
      );
    },
  );
}

export async function sendRoutes(app: App, deps: Deps): Promise<void> {
  await app.register((scope: App, _options, done) => {
    registerLargeJson(scope, MAX_SEND_BODY_BYTES);
    sendRoute(scope, deps);
    internalSendRoute(scope, deps);
    done();
  });
}
