import Fastify, { type FastifyInstance } from 'fastify';
import type { AppError } from '@platform/service-kit';
import { createAuthentication } from './authenticate.js';
import { standardAuthErrors } from './challenges.js';
import type { CredentialClaims } from './credential.js';
import { reverifyAfterBody } from './route-hooks.js';
import { createSessionCookies } from './session-cookies.js';
import { createVerification } from './verification.js';

const claims: CredentialClaims = {
  iss: 'i',
  sub: 'user',
  org: 'org',
  jti: 'id',
  kind: 'oauth',
  client_id: 'client',
  aud: 'crawl',
  iat: 0,
};
const known: Readonly<Record<string, CredentialClaims>> = {
  ordinary: claims,
  bound: { ...claims, cnf: { jkt: 'thumbprint' } },
};

let app: FastifyInstance;
/** The proofs that were checked. */
let proofs: unknown[];
let isProven: boolean;
let isLive: boolean;
/** How often a proof was used up. */
let used: number;

beforeEach(() => {
  proofs = [];
  isProven = true;
  isLive = true;
  used = 0;
  // Each reading is two seconds later, longer than a verification counts, so that every request is verified again.
  let now = 0;
  const clock = () => (now += 2_000);
  const authentication = createAuthentication({
    verification: createVerification({
      checkSignature: (token) => {
        const found = known[token];
        return found && { claims: found, scopes: new Set(), token, digest: token };
      },
      liveness: async () =>
        isLive ? { role: 'admin', email: '', fullName: '', isServiceAccount: false } : undefined,
      clock: () => 0,
      clockToleranceMs: 0,
    }),
    async verifyProof({ headers }) {
      proofs.push(headers['dpop']);
      return isProven ? () => (used += 1) === 1 : undefined;
    },
    audience: 'crawl',
    cookies: createSessionCookies('http://127.0.0.1:8080'),
    messages: standardAuthErrors,
    clock,
  });
  app = Fastify();
  app.decorateRequest('principal', null);
  app.decorateRequest('verifiedAt', 0);
  app.decorateRequest('verifyCaller', null);
  app.addHook('onRoute', reverifyAfterBody);
  app.setErrorHandler((error: AppError, _request, reply) => reply.code(error.statusCode ?? 500).send({}));
  app.post('/', { onRequest: authentication.authenticateFor('crawl') }, () => 'done');
  app.get('/internal', { onRequest: authentication.authenticateService('token:introspect') }, () => 'done');
});
afterEach(() => app.close());

const post = async (authorization: string) =>
  (await app.inject({ method: 'POST', url: '/', headers: { authorization, dpop: 'proof' } })).statusCode;

test('a proof is checked once, although the credential is verified again after a slow body', async () => {
  expect(await post('DPoP bound')).toBe(200);
  expect(proofs).toEqual(['proof']);
});

test('a proof counts once, and only when its credential is live', async () => {
  isLive = false;
  expect([await post('DPoP bound'), used]).toEqual([401, 0]);
  isLive = true;
  expect([await post('DPoP bound'), await post('DPoP bound'), used]).toEqual([200, 401, 2]);
});

test('a bound credential is refused when its proof is invalid', async () => {
  isProven = false;
  expect(await post('DPoP bound')).toBe(401);
});

test('a credential with the wrong scheme is refused, and no proof is checked for an ordinary one', async () => {
  const statuses = [];
  for (const text of ['Bearer bound', 'DPoP ordinary', 'DPoP other', 'DPoP', 'Bearer ordinary'])
    statuses.push(await post(text));
  expect(statuses).toEqual([401, 401, 401, 401, 200]);
  expect(proofs).toEqual([]);
});

test('a bound access token is refused where a service credential is required', async () => {
  for (const authorization of ['Bearer bound', 'DPoP bound']) {
    const { statusCode } = await app.inject({ url: '/internal', headers: { authorization } });
    expect([401, 403]).toContain(statusCode);
  }
});
