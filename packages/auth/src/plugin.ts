import type { Clock } from '@platform/service-kit';
import type { FastifyInstance, onRequestHookHandler } from 'fastify';
import fastifyPlugin from 'fastify-plugin';
import { createAuthentication } from './authenticate.js';
import { invalidCredential, type AuthErrorMessages, standardAuthErrors } from './challenges.js';
import type { SignedCredential } from './credential.js';
import { securitySchemes } from './demands.js';
import { createProofCheck } from './dpop.js';
import { createJwtCheck } from './jwt.js';
import type { KeySet } from './key-set.js';
import type { Liveness, Presentation } from './liveness.js';
import type { Principal, UserPrincipal } from './principal.js';
import { toPresentation } from './request-verifier.js';
import { createRefusalObserver, type RecordRefusal } from './refused-requests.js';
import { documentSecurity, reverifyAfterBody } from './route-hooks.js';
import { createSessionCookies, type SessionCookies } from './session-cookies.js';
import { createSignatureCheck } from './signature.js';
import { createVerification } from './verification.js';

declare module 'fastify' {
  interface FastifyRequest {
    /** Set by `authenticate`; read it with `getPrincipal` or `getMember`. */
    principal: Principal | null;
    /** The time at which `authenticate` set it, in milliseconds since the epoch. */
    verifiedAt: number;
    /** Set by `authenticateService`; call it through the function of the same name. */
    verifyCaller: (() => Promise<void>) | null;
  }
  interface FastifyInstance {
    /**
     * An `onRequest` hook that fails with 401 without an active credential and with 503 when that cannot be determined. Its
     * routes authenticate once more when the body took long to arrive.
     */
    authenticate: onRequestHookHandler;
    /** The same hook for routes that accept the access tokens of another audience than the service's own. */
    authenticateFor: (audience: string) => onRequestHookHandler;
    /**
     * An `onRequest` hook for requests of other services of the platform. It fails with 401 or 403 by the signed claims. The
     * handler awaits `verifyCaller` in parallel with its own queries, before it answers.
     */
    authenticateService: (scope: string) => onRequestHookHandler;
    /**
     * Verifies a bearer that did not come in a header.
     *
     * @throws AppError 401 when it is refused, 503 when its state cannot be determined.
     */
    verifyBearer: (presented: string, presentation?: Presentation) => Promise<Principal>;
    /**
     * Checks the signature of a credential of the platform, without I/O. The credential may have expired or been revoked.
     *
     * @returns undefined when the platform did not issue it.
     */
    checkSignature: (presented: string) => SignedCredential | undefined;
    /** The cookies in which browsers hold a session. */
    sessionCookies: SessionCookies;
    /**
     * Finds the member whom the browser of the request is signed in as, by the cookie alone. It is for pages that are
     * opened by a link; it does not prove that a page of this origin made the request.
     *
     * @throws AppError 503 when it cannot be determined whether the session is active.
     */
    findBrowserSession: (request: FastifyRequest) => Promise<UserPrincipal | undefined>;
  }
}

export interface AuthOptions {
  /** The `iss` of the platform's credentials; any other is refused. */
  readonly issuer: string;
  /** The name of the service: it accepts only the OAuth access tokens whose `aud` contains it. */
  readonly audience: string;
  readonly keySet: KeySet;
  readonly liveness: Liveness;
  readonly clock: Clock;
  /** See `VerificationOptions`. 0 in identity itself. */
  readonly clockToleranceMs: number;
  /** The URL at which browsers reach the platform: the form of the session cookie and the proof of origin depend on it. */
  readonly publicUrl: string;
  readonly messages?: AuthErrorMessages;
  /** Records requests that were refused to a token or a session. Without it, nothing is recorded. */
  readonly recordRefusal?: RecordRefusal;
}

async function registerAuth(app: FastifyInstance, options: AuthOptions): Promise<void> {
  const messages = options.messages ?? standardAuthErrors;
  // Created once, because it is sent many times.
  const refusal = invalidCredential(messages);
  const checkSignature = createSignatureCheck(options.keySet, createJwtCheck(options.issuer));
  app.decorate('checkSignature', checkSignature);
  const { recordRefusal: record, clock } = options;
  if (record) app.decorate('observeError', createRefusalObserver({ checkSignature, record, clock }));
  const verification = createVerification({
    checkSignature,
    liveness: options.liveness,
    clock: options.clock,
    clockToleranceMs: options.clockToleranceMs,
  });
  app.decorateRequest('principal', null);
  app.decorateRequest('verifiedAt', 0);
  app.decorateRequest('verifyCaller', null);
  app.decorate('verifyBearer', async (presented, presentation) => {
    const credential = verification.verifyLocally(presented, null);
    const principal = credential && (await verification.verifyLiveness(credential, presentation));
    if (!principal) throw refusal;
    return principal;
  });
  const cookies = createSessionCookies(options.publicUrl);
  app.decorate('sessionCookies', cookies);
  app.decorate('findBrowserSession', async (request) => {
    const session = cookies.readSession(request.raw);
    const credential =
      session === undefined ? undefined : verification.verifyLocally(session, options.audience);
    if (credential?.claims.kind !== 'session') return undefined;
    const principal = await verification.verifyLiveness(credential, toPresentation(request));
    return principal?.kind === 'session' ? principal : undefined;
  });
  const authentication = createAuthentication({
    verification,
    verifyProof: createProofCheck(options.publicUrl, options.clock),
    audience: options.audience,
    cookies,
    messages,
    clock: options.clock,
  });
  app.decorate('authenticate', authentication.authenticateFor(options.audience));
  app.decorate('authenticateFor', authentication.authenticateFor);
  app.decorate('authenticateService', authentication.authenticateService);
  app.addHook('onRoute', reverifyAfterBody);
  app.addHook('onRoute', documentSecurity);
  if (app.hasDecorator('securitySchemes')) Object.assign(app.securitySchemes, securitySchemes);
}

/** Registers `authenticate` and its companions; each route chooses which of them it uses. */
export const authPlugin = fastifyPlugin(registerAuth, { name: 'auth', fastify: '5.x' });
