import type { FastifyReply, FastifyRequest } from 'fastify';
import { errorResponses } from '@platform/service-kit';
import { readPreference } from './preference.js';
import { EmailAcceptedResponse, SendEmailResponse } from './schemas.js';
import type { Submission } from './submission.js';
import type { ResponseDeadlines } from './send-request.js';

/** The responses of every route that sends a mail. */
export const sendResponses = {
  200: SendEmailResponse,
  202: EmailAcceptedResponse,
  ...errorResponses(400, 401, 403, 404, 409, 413, 422, 429, 500),
};

/** Counts from the start of the request, so that the upload of the body is included. */
export function getResponseDeadlines(
  request: FastifyRequest,
  reply: FastifyReply,
  deadlineMs: number,
): ResponseDeadlines {
  const startedAt = performance.now() - reply.elapsedTime;
  const { isAsync, waitMs } = readPreference(request.headers.prefer);
  const deadlineAt = startedAt + Math.min(deadlineMs, isAsync ? Infinity : (waitMs ?? Infinity));
  return { deadlineAt, acceptAt: isAsync ? Math.min(startedAt + (waitMs ?? 0), deadlineAt) : undefined };
}

/** Prepares the reply and returns its body. */
export function prepareResponse(reply: FastifyReply, submission: Submission) {
  if (submission.state === 'sent') return { data: { status: true, data: submission.confirmation } };
  const { id } = submission;
  void reply
    .code(202)
    .headers({ location: `/api/v1/mail/records/${id}`, 'preference-applied': 'respond-async' });
  return { data: { status: true, data: 'Email accepted', id } };
}
