import { finished, PassThrough, pipeline, Readable } from 'node:stream';
import type { FastifyInstance, onSendHookHandler, preParsingHookHandler } from 'fastify';
import { BODY_STALLED } from './errors.js';

const ignore = (): void => undefined;

/**
 * Returns a copy of the body to forward, because the proxy destroys it when the service is unavailable or responds
 * before its end. A body that pauses for `stallMs` ends with an error of the request.
 */
const copyBody =
  (stallMs: number): preParsingHookHandler =>
  (request, reply, payload, done) => {
    const { raw, method } = request;
    // Fastify does not read the bodies of these methods.
    if (method === 'GET' || method === 'HEAD') {
      done(null, payload);
      return;
    }
    const copy = new PassThrough();
    // The reader receives faults through the request that it sends.
    copy.on('error', ignore);
    const stall = setTimeout(() => {
      // The client is not at fault when the service does not continue reading.
      if (copy.writableNeedDrain) stall.refresh();
      else copy.destroy(Object.assign(new Error('the body has stalled'), { code: BODY_STALLED }));
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
    // The request was answered, or the client has disconnected.
    reply.raw.once('close', () => copy.destroy());
    done(null, copy);
  };

/**
 * Sends the response at once, complete by its length for the client, but ends it for Node only after the request:
 * Node would otherwise close the connection.
 */
const holdEnd: onSendHookHandler = (request, reply, payload, done) => {
  const { raw, body } = request;
  if (raw.complete || !(body instanceof Readable)) {
    done(null, payload);
    return;
  }
  if (reply.statusCode === 408) {
    // The rest of the body does not arrive.
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
      // The rest of the body is not needed.
      body.destroy();
    },
  });
  pipeline(payload instanceof Readable ? payload : Readable.from([payload]), answer, ignore);
  done(null, answer);
};

/**
 * Reads and discards the part of a body that the service did not read, until the gateway's request timeout at the latest.
 * A connection that is closed while the client still writes is reset, and the response lost.
 */
export function readToTheEnd(app: FastifyInstance, stallMs: number): void {
  app.addHook('preParsing', copyBody(stallMs));
  app.addHook('onSend', holdEnd);
}
