import { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';

/**
 * The request as the SDK takes it; the body was read before, the credential stays here. The SDK refuses an `Accept` that
 * doesn't name both forms of an answer; which of them is sent is decided before.
 */
export function toWebRequest(request: FastifyRequest, url: string, signal: AbortSignal): Request {
  const headers = new Headers();
  for (const [name, value] of Object.entries(request.headers))
    if (typeof value === 'string' && name !== 'content-length' && name !== 'authorization')
      headers.set(name, value);
  headers.set('accept', 'application/json, text/event-stream');
  return new Request(url, { method: 'POST', headers, signal });
}

export async function sendWebResponse(reply: FastifyReply, response: Response): Promise<FastifyReply> {
  void reply.code(response.status);
  for (const [name, value] of response.headers) if (name !== 'content-length') void reply.header(name, value);
  if (!response.body) return reply.send();
  const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') === true;
  // JSON is small and whole; an event stream goes out as it comes, through nginx too.
  if (isStream) void reply.header('x-accel-buffering', 'no');
  return reply.send(isStream ? Readable.fromWeb(response.body) : await response.text());
}
