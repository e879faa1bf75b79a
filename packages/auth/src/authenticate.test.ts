import Fastify, { type FastifyInstance, type onRequestHookHandler } from 'fastify';
import { AppError } from '@platform/service-kit';
import { createAuthentication } from './authenticate.js';
import { standardAuthErrors } from './challenges.js';
import type { SignedCredential } from './credential.js';
import { requireAdmin } from './guards.js';
import type { LiveOwner } from './liveness.js';
import { reverifyAfterBody } from './route-hooks.js';
import { createSessionCookies } from './session-cookies.js';
import { createVerification } from './verification.js';

const credential: SignedCredential = {
  claims: { iss: 'i', sub: 'user', org: 'org', jti: 'id', kind: 'session', iat: 0 },
  scopes: new Set(),
  token: 't',
  digest: 'd',
};
const owner = (role: LiveOwner['role']): LiveOwner => ({
  role,
  email: 'a@example.com',
  fullName: 'A',
  isServiceAccount: false,
});

describe('authenticateWhile', () => {
  let app: FastifyInstance;
  /** The recorded events, in order. */
  let events: string[];
  let liveOwner: LiveOwner | undefined;
  let load: () => unknown;
  let authenticate: onRequestHookHandler;

  beforeEach(() => {
    events = [];
    liveOwner = owner('admin');
    load = () => ['data'];
    const authentication = createAuthentication({
      verification: createVerification({
        checkSignature: (presented) => (presented === 'signed' ? credential : undefined),
        liveness: async () => {
          events.push('liveness asked');
          await new Promise(setImmediate);
          events.push('liveness known');
          return liveOwner;
        },
        clock: Date.now,
        clockToleranceMs: 0,
      }),
      verifyProof: async () => false,
      audience: 'crawl',
      cookies: createSessionCookies('http://127.0.0.1:8080'),
      messages: standardAuthErrors,
      clock: Date.now,
    });
    app = Fastify();
    app.decorateRequest('principal', null);
    app.decorateRequest('verifiedAt', 0);
    app.decorateRequest('loading', null);
    app.addHook('onRoute', reverifyAfterBody(authentication));
    app.setErrorHandler((error: AppError, _request, reply) => reply.code(error.statusCode ?? 500).send({}));
    const reading = authentication.authenticateWhile((orgId) => {
      events.push(`load for ${orgId}`);
      return load();
    });
    const isAdmin = requireAdmin();
    app.get('/', { onRequest: [reading.authenticate, isAdmin] }, (request) => reading.load(request));
    authenticate = reading.authenticate;
  });
  afterEach(() => app.close());

  const get = (bearer = 'signed') => app.inject({ url: '/', headers: { authorization: `Bearer ${bearer}` } });

  it('loads for the organisation of the claims while liveness is unknown', async () => {
    const { statusCode, body } = await get();
    expect([statusCode, body]).toEqual([200, '["data"]']);
    expect(events).toEqual(['load for org', 'liveness asked', 'liveness known']);
  });

  it('refuses a route that may have a body', () => {
    expect(() => app.post('/', { onRequest: authenticate }, () => ({}))).toThrow('may have a body');
  });

  it('loads nothing for a credential without a valid signature', async () => {
    expect((await get('forged')).statusCode).toBe(401);
    expect(events).toEqual([]);
  });

  it.each([
    ['a revoked credential', undefined, 401],
    ['a member who may not', owner('member'), 403],
  ])('discards what it loaded for %s', async (_case, found, status) => {
    liveOwner = found;
    const { statusCode, body } = await get();
    expect([statusCode, body]).toEqual([status, '{}']);
  });

  it('fails with the error of the query only after the credential was accepted', async () => {
    load = () => {
      throw new AppError({ status: 400, code: 'C', message: 'm' });
    };
    expect((await get()).statusCode).toBe(400);
    liveOwner = undefined;
    expect((await get()).statusCode).toBe(401);
  });
});
