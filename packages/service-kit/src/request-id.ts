import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';

const sane = /^[\w.:/+=-]{1,128}$/;

/** The caller's `x-request-id` when it is short and plain, else a new UUID (v4: it is kept nowhere, and
 * Node makes these from a pool). */
export function requestIdOf(request: Pick<IncomingMessage, 'headers'>): string {
  const given = request.headers['x-request-id'];
  return typeof given === 'string' && sane.test(given) ? given : randomUUID();
}
