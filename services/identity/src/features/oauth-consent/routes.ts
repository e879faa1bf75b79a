import { AppError, type App } from '@platform/service-kit';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type Provider from 'oidc-provider';
import { errors } from 'oidc-provider';
import { toCaller } from '../audit/actor.js';
import { CONSENT_PATH } from '../oauth/issuer.js';
import { createFormToken, requireFormToken } from '../pages/form-token.js';
import { sendPage } from '../pages/page.js';
import { registerPages } from '../pages/scope.js';
import { toSignInPath } from '../sign-in-pages/paths.js';
import { consentPage, nothingAllowedPage } from './page.js';
import type { ConsentService } from './service.js';

const schema = { hide: true } as const;

const expired = (): AppError =>
  new AppError({
    status: 400,
    code: 'EXPIRED',
    message:
      'This request is out of date, or was opened in another browser. Start again from the application.',
  });

const readScopes = ({ body }: FastifyRequest): string[] => {
  const { scope } = (body ?? {}) as { readonly scope?: string | string[] };
  return [scope ?? []].flat();
};

/** For people who are signed in to this browser: what an application may do. */
export function consentRoutes(
  app: App,
  { provider, service }: { readonly provider: Provider; readonly service: ConsentService },
): void {
  /** Reads the request that the cookie of this browser belongs to. @throws AppError 400. */
  async function findInteraction(request: FastifyRequest, reply: FastifyReply) {
    try {
      const interaction = await provider.interactionDetails(request.raw, reply.raw);
      const { uid } = request.params as { readonly uid: string };
      if (interaction.uid === uid) return interaction;
    } catch (error) {
      if (!(error instanceof errors.SessionNotFound)) throw error;
    }
    throw expired();
  }

  async function finish(
    request: FastifyRequest,
    reply: FastifyReply,
    result: Parameters<Provider['interactionResult']>[2],
  ): Promise<FastifyReply> {
    const options = { mergeWithLastSubmission: false };
    return reply.redirect(await provider.interactionResult(request.raw, reply.raw, result, options), 303);
  }

  registerPages(app, (scope) => {
    const url = `${CONSENT_PATH}/:uid`;
    scope.get(url, { schema }, async (request, reply) => {
      const interaction = await findInteraction(request, reply);
      const member = await scope.findBrowserSession(request);
      if (!member) return reply.redirect(toSignInPath(request.url), 303);
      const asked = await service.read(interaction, member);
      if (asked.scopes.length === 0) return sendPage(reply, nothingAllowedPage);
      // The browser follows the answer to the application, so the form may lead there.
      const { protocol, origin } = new URL(asked.redirectUri);
      const formTargets = [origin === 'null' ? protocol : origin];
      return sendPage(reply, consentPage(asked, member, createFormToken(request, reply)), { formTargets });
    });
    scope.post(url, { schema, preHandler: requireFormToken }, async (request, reply) => {
      const interaction = await findInteraction(request, reply);
      const member = await scope.findBrowserSession(request);
      if (!member) return reply.redirect(toSignInPath(request.url), 303);
      const { decision } = request.body as { readonly decision?: unknown };
      const grantId =
        decision === 'allow'
          ? await service.allow(interaction, toCaller(member, request), readScopes(request))
          : undefined;
      return grantId === undefined
        ? finish(request, reply, { error: 'access_denied', error_description: 'the person denied it' })
        : finish(request, reply, { login: { accountId: member.userId }, consent: { grantId } });
    });
  });
}
