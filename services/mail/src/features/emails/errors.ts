import { explainProblem, type SmtpProblem } from '@platform/events/facts';
import { AppError } from '@platform/service-kit';
import { isPermanentRefusal } from '../delivery/outcome.js';

export const unknownTemplate = (): AppError =>
  new AppError({ status: 400, code: 'UNKNOWN_TEMPLATE', message: 'Unknown Template' });

const MESSAGE = 'Error sending mail';

/**
 * The server accepted nothing, so sending again with a new idempotency key is safe. With SMTP_REFUSED it is pointless,
 * because the server will never accept this mail.
 */
export const sendingFailed = (problem?: SmtpProblem): AppError =>
  new AppError({
    status: 500,
    code: problem && isPermanentRefusal(problem) ? 'SMTP_REFUSED' : 'SMTP_ERROR',
    message: MESSAGE,
    ...(problem &&
      isPermanentRefusal(problem) && { details: [{ field: 'smtp', message: explainProblem(problem) }] }),
    cause: describe(problem),
  });

/** The server may have accepted the mail, so it isn't sent again automatically. */
export const outcomeUnknown = (problem?: SmtpProblem): AppError =>
  new AppError({ status: 500, code: 'DELIVERY_UNKNOWN', message: MESSAGE, cause: describe(problem) });

const describe = (problem: SmtpProblem | undefined): Error =>
  new Error(problem ? Object.values(problem).join(' ') : 'the result of an earlier request with this key');

export const keyReused = (): AppError =>
  new AppError({
    status: 422,
    code: 'IDEMPOTENCY_KEY_REUSED',
    message: 'This Idempotency-Key was used with another body',
  });

export const keyInUse = (): AppError =>
  new AppError({
    status: 409,
    code: 'IDEMPOTENCY_KEY_IN_USE',
    message: 'The first request with this Idempotency-Key is still under way',
    headers: { 'retry-after': '5' },
  });

export const keyInvalid = (): AppError =>
  new AppError({
    status: 400,
    code: 'VALIDATION_ERROR',
    message: 'Invalid request',
    details: [{ field: 'Idempotency-Key', message: 'must have 1 to 255 visible ASCII characters' }],
  });

export const notResendable = (): AppError =>
  new AppError({
    status: 409,
    code: 'NOT_RESENDABLE',
    message: 'This mail cannot be sent again: it was sent, is in progress, or its request is not stored',
  });
