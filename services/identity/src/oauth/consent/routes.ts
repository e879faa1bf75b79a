import { createFormatDay } from '../../sign-in/page-kit/dates.js';
import { type App, AppError } from '@platform/service-kit';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { errors } from 'oidc-provider';
import { Type } from 'typebox';
import { toCaller } from '../../base/caller/actor.js';
import type { NamedBounds } from '../../credentials/bounds/bounds.js';
import { boundsQuery, readBoundsQuery, readChosenBounds, toBoundsQuery } from './chosen-bounds.js';
import type { RecordStep } from '../attempts/feature.js';
import { type ConsentContext, readConsentRequest, readText } from './consent-request.js';
import { consentPage, nothingAllowedPage } from './page.js';
import { allowConsent, denyConsent } from './service.js';
import { CONSENT_PATH } from '../provider/issuer.js';
import { ConfirmationRequired, isSessionConfirmed } from '../../sign-in/sessions/confirmed.js';
import { createFormToken, requireFormToken } from '../../sign-in/page-kit/form-token.js';
import { sendPage } from '../../sign-in/page-kit/page.js';
import { registerPages } from '../../sign-in/page-kit/scope.js';
import { toConfirmPath, toSignInPath } from '../../sign-in/pages/paths.js';

const schema = { hide: true } as const;
/** The ticked scopes, for a page that is opened again: names with spaces between them. */
const ConsentQuery = Type.Object({
  ticked: Type.Optional(Type.String({ maxLength: 4_096 })),
  ...boundsQuery,
  // The member wants to see the request, and perhaps to deny it, before they confirm who they are.
  unconfirmed: Type.Optional(Type.Literal('yes')),
});

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

/** Returns the path of the page with another query. */
const toPath = ({ url }: FastifyRequest, query: Readonly<Record<string, string>>): string =>
  [url.split('?', 1)[0], new URLSearchParams(query).toString()].filter(Boolean).join('?');

const readBounds = ({ body }: FastifyRequest): NamedBounds =>
  readChosenBounds((body ?? {}) as Parameters<typeof readChosenBounds>[0]);

/** Returns what makes the page open again as the form was left. */
const toTicks = (request: FastifyRequest) => ({
  ticked: readScopes(request).join(' '),
  ...toBoundsQuery(readBounds(request)),
});

/** Asks the member to confirm who they are, and comes back to the page. @param ticks - what was ticked, if that is known. */
const redirectToConfirm = (
  request: FastifyRequest,
  reply: FastifyReply,
  ticks: Readonly<Record<string, string>>,
): FastifyReply =>
  reply.redirect(
    toConfirmPath(toPath(request, ticks), toPath(request, { ...ticks, unconfirmed: 'yes' })),
    303,
  );

/** For people who are signed in to this browser: what an application may do. */
function consentRoutes(app: App, ctx: ConsentContext, recordStep: RecordStep): void {
  /** Reads the request that the cookie of this browser belongs to. @throws AppError 400. */
  async function findInteraction(request: FastifyRequest, reply: FastifyReply) {
    try {
      const interaction = await ctx.provider.interactionDetails(request.raw, reply.raw);
      const { uid } = request.params as { readonly uid: string };
      if (interaction.uid === uid) return interaction;
    } catch (error) {
      if (!(error instanceof errors.SessionNotFound)) throw error;
    }
    throw expired();
  }

  registerPages(app, (scope) => {
    const url = `${CONSENT_PATH}/:uid`;
    scope.get(url, { schema: { ...schema, querystring: ConsentQuery } }, async (request, reply) => {
      const { ticked, unconfirmed, ...query } = request.query;
      const bounds = readBoundsQuery(query);
      const interaction = await findInteraction(request, reply);
      const member = await scope.findBrowserSession(request);
      if (!member) return reply.redirect(toSignInPath(request.url), 303);
      const asked = await readConsentRequest(ctx, interaction, member);
      const step = { step: 'consent', clientId: asked.clientId, userId: member.userId } as const;
      if (asked.scopes.length === 0) {
        recordStep(request, { ...step, fault: 'nothing_allowed' });
        return sendPage(reply, nothingAllowedPage);
      }
      recordStep(request, step);
      // A connection outlasts the session. It is asked before the page is shown, so that nobody has to press a button twice. [AUTH-57]
      if (unconfirmed === undefined && !(await isSessionConfirmed(ctx.prisma, member, ctx.clock())))
        return redirectToConfirm(request, reply, {
          ...(ticked !== undefined && { ticked }),
          ...toBoundsQuery(bounds),
        });
      // The browser follows the answer to the application, so the form may lead there.
      const { protocol, origin } = new URL(asked.redirectUri);
      const formTargets = [origin === 'null' ? protocol : origin];
      const formatDay = createFormatDay(request);
      const state = {
        formToken: createFormToken(request, reply),
        ticked: ticked?.split(' '),
        bounds,
        formatDay,
      };
      return sendPage(reply, consentPage(asked, member, state), { formTargets });
    });
    scope.post(url, { schema, preHandler: requireFormToken }, async (request, reply) => {
      const interaction = await findInteraction(request, reply);
      const member = await scope.findBrowserSession(request);
      if (!member) return reply.redirect(toSignInPath(toPath(request, toTicks(request))), 303);
      const { decision } = request.body as { readonly decision?: unknown };
      try {
        const isAnswered =
          decision === 'allow'
            ? await allowConsent(ctx, interaction, toCaller(member, request), {
                scopes: readScopes(request),
                bounds: readBounds(request),
              })
            : await denyConsent(ctx, interaction);
        // A form that was sent twice ends where the first answer leads, unless the browser has been there.
        if (!isAnswered) await findInteraction(request, reply);
        const clientId = readText(interaction.params, 'client_id');
        recordStep(request, {
          clientId,
          userId: member.userId,
          ...(decision === 'allow' ? { step: 'code' } : { step: 'consent', fault: 'denied' }),
        });
      } catch (error) {
        if (!(error instanceof ConfirmationRequired)) throw error;
        return redirectToConfirm(request, reply, toTicks(request));
      }
      return reply.redirect(interaction.returnTo, 303);
    });
  });
}

/** Registers the pages on which members allow an application to act for them. */
export function registerConsent(app: App, ctx: ConsentContext & { readonly recordStep: RecordStep }): void {
  consentRoutes(app, ctx, ctx.recordStep);
}
