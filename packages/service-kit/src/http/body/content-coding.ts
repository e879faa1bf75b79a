import type { FastifyInstance } from 'fastify';
import { AppError } from '../../errors.js';

/**
 * Refuses compressed bodies, because a few kilobytes can expand to gigabytes. The 415 names the codings that are accepted
 * (RFC 9110 §15.5.16). It comes after authentication and before the body is read.
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
