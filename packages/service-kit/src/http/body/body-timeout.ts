import { PassThrough } from 'node:stream';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { toStatusError } from '../translate-error.js';

export interface BodyTimeouts {
  /** How long a body may stand still. */
  readonly stallMs: number;
  /** How long a body may take in all. */
  readonly totalMs: number;
}

const hasBody = ({ raw, headers }: FastifyRequest): boolean =>
  !raw.complete && (headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined);

/**
 * Answers 408 to a body that stops or trickles. Node's own time-out for requests closes the connection instead once the
 * head of a request has come, and a gateway in front makes a 502 of that.
 */
export function limitBodyTime(app: FastifyInstance, { stallMs, totalMs }: BodyTimeouts): void {
  app.addHook('preParsing', (request, reply, payload, done) => {
    if (!hasBody(request) || request.is404) {
      done(null, payload);
      return;
    }
    // A copy, since it can fail with an error of our own while the connection stays open for the answer.
    const body = new PassThrough();
    const fail = (): void => {
      void reply.header('connection', 'close');
      body.destroy(toStatusError(408));
    };
    const stall = setTimeout(() => {
      // A body that nobody reads stands still without the client's fault.
      if (body.writableNeedDrain) stall.refresh();
      else fail();
    }, stallMs);
    const total = setTimeout(fail, totalMs);
    payload.on('data', () => stall.refresh());
    payload.once('error', (error) => body.destroy(error));
    body.once('error', () => undefined);
    const stop = (): void => {
      clearTimeout(stall);
      clearTimeout(total);
    };
    payload.once('end', stop);
    body.once('close', stop);
    reply.raw.once('close', stop);
    payload.pipe(body);
    done(null, body);
  });
}
