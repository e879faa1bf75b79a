// The npm package, for servers with Fastify: anything exported here is public.
import { systemClock } from '@platform/service-kit';
import type { FastifyInstance } from 'fastify';
import fastifyPlugin from 'fastify-plugin';
import {
  CLOCK_TOLERANCE_MS,
  createVerifierClient,
  DEFAULT_ISSUER,
  type VerifierOptions,
} from './identity-client.js';
import { authPlugin } from './plugin.js';
// oxlint-disable-next-line import/no-unassigned-import -- it keeps what the plugin adds to the types of Fastify
import './plugin.js';

export {
  getAccount,
  getMember,
  requireAccount,
  requireAdmin,
  requireMember,
  requireScopes,
  requireSession,
} from './guards.js';
export {
  type AccountPrincipal,
  hasScope,
  type Principal,
  type ServiceAccountPrincipal,
  type UserPrincipal,
} from './principal.js';
export type { Role, Scope } from './scopes.js';
export type { VerifierOptions } from './identity-client.js';

export interface PlatformAuthOptions extends VerifierOptions {
  /** The platform's `PUBLIC_URL`. */
  readonly publicUrl: string;
  /** The name of the service. OAuth access tokens of the platform name none but its own services. Default: `clientId`. */
  readonly audience?: string;
}

/**
 * Registers `authenticate`, an `onRequest` hook that fails with 401 without an active credential and with 503 when that
 * cannot be determined. Register it before the routes.
 */
export const platformAuth = fastifyPlugin(
  async (app: FastifyInstance, options: PlatformAuthOptions): Promise<void> => {
    const identity = createVerifierClient(options);
    app.addHook('onClose', identity.close);
    await app.register(authPlugin, {
      issuer: options.issuer ?? DEFAULT_ISSUER,
      audience: options.audience ?? options.clientId,
      keySet: identity.keySet,
      liveness: identity.liveness,
      clock: systemClock,
      clockToleranceMs: CLOCK_TOLERANCE_MS,
      publicUrl: options.publicUrl,
    });
    await identity.start();
  },
  { name: 'platform-auth', fastify: '5.x' },
);
