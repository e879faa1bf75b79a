import { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';

/**
 * Converts a request to the type that the SDK expects, without the body, which is already parsed, and the credential. The
 * SDK rejects an `Accept` header without both forms of response; which form is sent has been negotiated before.
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
  // Event streams must not be buffered by the process or by nginx; JSON responses are small.
  if (isStream) void reply.header('x-accel-buffering', 'no');
  return reply.send(isStream ? Readable.fromWeb(response.body) : await response.text());
}
