import type { IncomingMessage } from 'node:http';
import { v7 as uuidv7 } from 'uuid';

const sane = /^[\w.:/+=-]{1,128}$/;

/** The caller's `x-request-id` when it is short and plain, else a new UUIDv7. */
export function requestIdOf(request: Pick<IncomingMessage, 'headers'>): string {
  const given = request.headers['x-request-id'];
  return typeof given === 'string' && sane.test(given) ? given : uuidv7();
}
