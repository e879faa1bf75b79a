import { randomBytes } from 'node:crypto';
import type { IncomingMessage } from 'node:http';

/** The field of every log line that has the `x-request-id` of what it is about, in all services. */
export const REQUEST_ID_FIELD = 'requestId';

const sane = /^[\w.:/+=-]{1,128}$/;

/** Of this process alone; what follows it is counted, which costs a request less than a random id of its own. */
const prefix = randomBytes(12).toString('hex');
let count = 0;

/** The caller's `x-request-id` when it is short and plain, else a new one, unique among all processes. */
export function getRequestId(request: Pick<IncomingMessage, 'headers'>): string {
  const given = request.headers['x-request-id'];
  if (typeof given === 'string' && sane.test(given)) return given;
  count += 1;
  return `${prefix}-${count.toString(36)}`;
}
