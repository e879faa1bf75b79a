import type { FastifyReply, FastifyRequest } from 'fastify';
import { dependencyUnavailable, errorResponses, notApplied } from '@platform/service-kit';
import { configurationIncomplete } from '../smtp-configuration/errors.js';
import { keyInUse, keyReused, outcomeUnknown, sendingFailed, unknownTemplate } from './errors.js';
import { EmailAcceptedResponse, SendEmailResponse } from './schemas.js';
import type { Submission } from './submission.js';
import type { ResponseDeadlines } from './send-request.js';

/** The responses of every route that sends a mail. */
export const sendResponses = {
  200: SendEmailResponse,
  202: EmailAcceptedResponse,
  ...errorResponses(
    400,
    401,
    403,
    404,
    409,
    413,
    422,
    429,
    500,
    unknownTemplate(),
    configurationIncomplete(),
    keyInUse(),
    keyReused(),
    sendingFailed(),
    outcomeUnknown(),
    notApplied(dependencyUnavailable('queue')),
  ),
};

/** The preferences in a `Prefer` header (RFC 7240). Other preferences are ignored, as §2 requires. */
interface Preference {
  /** True when the client accepts a 202 response (§4.1). */
  readonly isAsync: boolean;
  /** The time that the client is willing to wait for the outcome (§4.3). */
  readonly waitMs: number | undefined;
}

const WAIT = /^wait\s*=\s*"?(\d{1,9})"?$/i;

export function readPreference(header: string | readonly string[] | undefined): Preference {
  // oxfmt-ignore
  const names = [header ?? []].flat().join().split(',').map((item) => (item.split(';', 1)[0] ?? '').trim());
  const seconds = names.map((name) => WAIT.exec(name)?.[1]).find((found) => found !== undefined);
  const isAsync = names.some((name) => name.toLowerCase() === 'respond-async');
  // Nothing can be sent in no time: a client that waits for the outcome, but for none at all, gets the default (§2).
  const isUsable = seconds !== undefined && (isAsync || Number(seconds) > 0);
  return { isAsync, waitMs: isUsable ? Number(seconds) * 1_000 : undefined };
}

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
