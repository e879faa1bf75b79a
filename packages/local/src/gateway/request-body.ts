import { finished, PassThrough, pipeline, Readable } from 'node:stream';
import type { FastifyInstance, onSendHookHandler, preParsingHookHandler } from 'fastify';
import { BODY_STALLED } from './errors.js';

const ignore = (): void => undefined;

/**
 * The proxy destroys the body that it passes on when a service answers before its end, or is away: so that is a copy. A
 * body that stands still for `stallMs` ends as a fault of the request.
 */
const copyBody =
  (stallMs: number): preParsingHookHandler =>
  (request, reply, payload, done) => {
    const { raw, method } = request;
    // Fastify reads none of these.
    if (method === 'GET' || method === 'HEAD') {
      done(null, payload);
      return;
    }
    const copy = new PassThrough();
    // Who reads it hears of faults by the request that it sends.
    copy.on('error', ignore);
    const stall = setTimeout(() => {
      // A service that doesn't read on is no fault of the client.
      if (copy.writableNeedDrain) stall.refresh();
      else copy.destroy(Object.assign(new Error('the body stands still'), { code: BODY_STALLED }));
    }, stallMs);
    raw.on('data', () => stall.refresh());
    raw.once('end', () => {
      clearTimeout(stall);
    });
    raw.pipe(copy);
    copy.once('close', () => {
      clearTimeout(stall);
      raw.resume();
    });
    // Answered, or the client has gone.
    reply.raw.once('close', () => copy.destroy());
    done(null, copy);
  };

/**
 * The answer goes out as it comes, and by its length is whole to the client. To Node it doesn't end before the request does:
 * with its end Node would close a connection.
 */
const holdEnd: onSendHookHandler = (request, reply, payload, done) => {
  const { raw, body } = request;
  if (raw.complete || !(body instanceof Readable)) {
    done(null, payload);
    return;
  }
  if (reply.statusCode === 408) {
    // The rest doesn't come.
    void reply.header('connection', 'close');
    body.destroy();
    done(null, payload);
    return;
  }
  if (typeof payload === 'string') void reply.header('content-length', Buffer.byteLength(payload));
  const answer = new PassThrough({
    flush(end) {
      finished(raw, () => {
        end();
      });
      // Nobody wants the rest.
      body.destroy();
    },
  });
  pipeline(payload instanceof Readable ? payload : Readable.from([payload]), answer, ignore);
  done(null, answer);
};

/**
 * What a service leaves of a body is read and thrown away, until the gateway's time-out for requests at the latest. A
 * connection that is closed while the client still writes is reset, and the answer lost.
 */
export function readToTheEnd(app: FastifyInstance, stallMs: number): void {
  app.addHook('preParsing', copyBody(stallMs));
  app.addHook('onSend', holdEnd);
}
