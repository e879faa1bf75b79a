import type { RequestCipher } from '../journal/request-cipher.js';
import type { SendRequest } from './send-request.js';

/** Mails with these templates are never stored for a resend, because their codes expire within minutes. */
const SHORT_LIVED: ReadonlySet<string> = new Set(['loginWithOTP']);
/** Larger requests are not stored for a resend: the caller still has the attachments. */
const MAX_STORED_REQUEST_LENGTH = 262_144;

/** @returns the encrypted request of a mail that can be sent again later, or undefined when it must not be stored. */
export function encryptForResend(
  cipher: RequestCipher,
  { body, canResend }: SendRequest,
  id: string,
): string | undefined {
  if (!canResend || SHORT_LIVED.has(body.emailTemplateType)) return undefined;
  const length = (body.attachments ?? []).reduce((sum, { content }) => sum + content.length, 0);
  const encryptedRequest = length > MAX_STORED_REQUEST_LENGTH ? '' : cipher.encrypt(body, id);
  return encryptedRequest !== '' && encryptedRequest.length <= MAX_STORED_REQUEST_LENGTH
    ? encryptedRequest
    : undefined;
}
