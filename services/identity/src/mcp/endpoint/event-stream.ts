import { PassThrough } from 'node:stream';
import type { FastifyReply } from 'fastify';

/** A comment is sent this often, so that no proxy takes a long call for a dead connection. */
const KEEP_ALIVE_MS = 15_000;

/** Responds with server-sent events, which are messages of JSON-RPC. */
export function openEventStream(reply: FastifyReply) {
  const stream = new PassThrough();
  const keepAlive = setInterval(() => stream.write(': keepalive\n\n'), KEEP_ALIVE_MS).unref();
  stream.once('close', () => clearInterval(keepAlive));
  void reply
    .headers({
      'content-type': 'text/event-stream',
      'cache-control': 'no-cache, no-transform',
      // Neither the process nor nginx may buffer the events.
      'x-accel-buffering': 'no',
    })
    .send(stream);
  return {
    /** Sends a message as JSON. Nothing happens when the client has disconnected. */
    send(message: string): void {
      // A result that is passed on can have line breaks between its parts, and each ends a field of the event.
      const data = message.split(/\r\n|\r|\n/).map((line) => `data: ${line}\n`);
      if (stream.writable) stream.write(`event: message\n${data.join('')}\n`);
    },
    end(): void {
      clearInterval(keepAlive);
      stream.end();
    },
  };
}
