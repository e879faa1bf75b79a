import type { FastifyInstance } from 'fastify';
import { AppError } from '../../errors.js';

/**
 * No route reads a compressed body: a few kilobytes of one can be gigabytes. It is 415 with what may be sent instead
 * (RFC 9110 §15.5.16), after the credential was looked at and before the body is.
 */
export function refuseCodedBodies(app: FastifyInstance): void {
  app.addHook('preParsing', (request, _reply, _payload, done) => {
    const coding = request.headers['content-encoding'];
    if (coding === undefined || request.is404 || /^identity$/i.test(coding)) {
      done();
      return;
    }
    const refusal = new AppError({
      status: 415,
      code: 'UNSUPPORTED_MEDIA_TYPE',
      message: 'Unsupported content encoding: send the body uncompressed',
      headers: { 'accept-encoding': 'identity' },
    });
    done(refusal);
  });
}
