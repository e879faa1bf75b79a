import { randomBytes } from 'node:crypto';
import type { IncomingMessage } from 'node:http';

/** The field with the `x-request-id` in the log lines of all services. */
export const REQUEST_ID_FIELD = 'requestId';

const sane = /^[\w.:/+=-]{1,128}$/;

/** A prefix unique to this process. A counter follows it, which costs less than a random id for each request. */
const prefix = randomBytes(12).toString('hex');
let count = 0;

/** Returns the caller's `x-request-id` when it is short and plain, otherwise a new one, unique among all processes. */
export function getRequestId(request: Pick<IncomingMessage, 'headers'>): string {
  const given = request.headers['x-request-id'];
  if (typeof given === 'string' && sane.test(given)) return given;
  count += 1;
  return `${prefix}-${count.toString(36)}`;
}
