import { getPrincipal, invalidCredential, standardAuthErrors } from '@platform/auth';
import { addErrors, type App, type Clock } from '@platform/service-kit';
import type { FastifyRequest, preValidationAsyncHookHandler, RouteOptions } from 'fastify';
import type { Prisma } from '../../prisma.js';
import type { NeedsConfirmation } from '../../base/confirmation.js';
import { ConfirmationRequired, findAuthentication, isRecent } from '../sessions/confirmed.js';

/** A cookie says that a browser sent the request, also for sessions that an older replica opened. */
const isFromBrowser = ({ headers }: FastifyRequest): boolean => headers.authorization === undefined;

/**
 * Guards the routes that say `needsConfirmation`. It runs once the body was read, after the credential was verified for the
 * last time.
 */
export function guardDangerousRoutes(
  app: App,
  { prisma, clock }: { readonly prisma: Prisma; readonly clock: Clock },
): void {
  /** @throws AppError 403 CONFIRMATION_REQUIRED for a session that was neither opened nor confirmed recently; 401 for an ended session. */
  const createGuard =
    (needsConfirmation: NeedsConfirmation, confirmsAnySession: boolean): preValidationAsyncHookHandler =>
    async (request) => {
      const principal = getPrincipal(request);
      // Tokens are not what an open browser gives away; their scopes decide.
      if (principal.kind !== 'session' || !needsConfirmation(request)) return;
      const session = await findAuthentication(prisma, principal);
      // It has ended since the credential was verified.
      if (session === null) throw invalidCredential(standardAuthErrors);
      const isConcerned = confirmsAnySession || session.isBrowser || isFromBrowser(request);
      if (isConcerned && !isRecent(session, clock())) throw new ConfirmationRequired();
    };

  app.addHook('onRoute', (route: RouteOptions) => {
    const { needsConfirmation, confirmsAnySession = false } = route.config ?? {};
    if (!needsConfirmation) return;
    if (route.schema) {
      const rule = `In ${confirmsAnySession ? 'any session' : 'the session of a browser'}: 403 \`CONFIRMATION_REQUIRED\` unless it was opened or confirmed within ten minutes (\`confirmSession\`).`;
      const description = [route.schema.description, rule].filter(Boolean).join('\n\n');
      route.schema = addErrors({ ...route.schema, description }, [new ConfirmationRequired()]);
    }
    route.preValidation = [
      ...[route.preValidation ?? []].flat(),
      createGuard(needsConfirmation, confirmsAnySession),
    ];
  });
}
