import { PassThrough } from 'node:stream';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { toStatusError } from '../../errors.js';

export interface BodyTimeouts {
  /** The longest pause in a body, in ms. */
  readonly stallMs: number;
  /** The time limit for the whole body, in ms. */
  readonly totalMs: number;
}

const hasBody = ({ raw, headers }: FastifyRequest): boolean =>
  !raw.complete && (headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined);

/**
 * Answers 408 to a body that stops or trickles. Node's own request timeout would close the connection without a response,
 * and a gateway in front would turn that into a 502.
 */
export function limitBodyTime(app: FastifyInstance, { stallMs, totalMs }: BodyTimeouts): void {
  app.addHook('preParsing', (request, reply, payload, done) => {
    if (!hasBody(request) || request.is404) {
      done(null, payload);
      return;
    }
    // A copy can fail with our own error, while the connection stays open for the response.
    const body = new PassThrough();
    const fail = (): void => {
      void reply.header('connection', 'close');
      body.destroy(toStatusError(408));
    };
    const stall = setTimeout(() => {
      // A body that is not read pauses through no fault of the client.
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
    reply.raw.once('close', () => {
      stop();
      // The rest of a refused body would otherwise hold up the next request on the connection.
      payload.unpipe(body);
      payload.resume();
    });
    payload.pipe(body);
    done(null, body);
  });
}
