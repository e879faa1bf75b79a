import { randomBytes } from 'node:crypto';
import { type App, AppError } from '@platform/service-kit';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import { type Caller, toCaller } from '../../base/caller/actor.js';
import { getClient } from '../../base/caller/client.js';
import { requireFormToken } from '../page-kit/form-token.js';
import { sendPage } from '../page-kit/page.js';
import { registerPages } from '../page-kit/scope.js';
import type { SessionContext } from '../sessions/service.js';
import { continueSignIn, getFormState, showAgain } from '../pages/browser-session.js';
import { CONFIRM_WITH_PROVIDER_PATH, PROVIDER_PATH } from '../pages/pages.js';
import { readReturnTo, toSignInPath } from '../pages/paths.js';
import { beginConfirmation } from './confirmations.js';
import type { ProviderSignInContext } from './context.js';
import { CALLBACK_PATH, failedPage, leavingPage, providerPage, unconfirmedPage } from './pages.js';
import { beginProviderSignIn, completeProviderSignIn } from './service.js';

/** The cookie of a browser that has begun a sign-in. It opens nothing: the provider's answer counts only together with it. */
const COOKIE = 'provider';
const MAX_AGE_SECONDS = 10 * 60;

const hide = true;
const PageQuery = Type.Object({ returnTo: Type.Optional(Type.String()) });
const CallbackPath = Type.Object({ orgId: Type.String({ format: 'uuid' }) });
const AddressForm = Type.Object({
  returnTo: Type.String({ maxLength: 4_096 }),
  email: Type.String({ maxLength: 254 }),
});

const ConfirmForm = Type.Object({ returnTo: Type.String({ maxLength: 4_096 }) });

async function findCaller(request: FastifyRequest): Promise<Caller | undefined> {
  const member = await request.server.findBrowserSession(request);
  return member && toCaller(member, request);
}

const readBrowser = ({ server, raw }: FastifyRequest): string | undefined =>
  server.sessionCookies.readCookie(raw, COOKIE);

/** A browser with several tabs keeps its secret, so that each of them can come back. */
const createBrowser = (request: FastifyRequest): string =>
  readBrowser(request) ?? randomBytes(32).toString('base64url');

function setBrowser({ server }: FastifyRequest, reply: FastifyReply, secret: string, maxAge: number): void {
  reply.header('set-cookie', server.sessionCookies.toCookie(COOKIE, secret, maxAge));
}

/** Open to everyone: the pages on which people sign in with the identity provider of their organisation. */
export function providerSignInRoutes(app: App, ctx: ProviderSignInContext, sessions: SessionContext): void {
  registerPages(app, (scope) => {
    scope.get(PROVIDER_PATH, { schema: { hide, querystring: PageQuery } }, (request, reply) =>
      sendPage(reply, providerPage(getFormState(request, reply, request.query))),
    );

    scope.post(
      PROVIDER_PATH,
      { preHandler: requireFormToken, schema: { hide, body: AddressForm } },
      async (request, reply) => {
        const state = getFormState(request, reply, request.body);
        const browser = createBrowser(request);
        const to = { returnTo: state.returnTo, client: getClient(request) };
        try {
          const url = await beginProviderSignIn(ctx, request.body.email, browser, to);
          setBrowser(request, reply, browser, MAX_AGE_SECONDS);
          return await sendPage(reply, leavingPage(url));
        } catch (error) {
          return showAgain(reply, error, (fault) => providerPage({ ...state, fault }));
        }
      },
    );

    scope.post(
      CONFIRM_WITH_PROVIDER_PATH,
      { preHandler: requireFormToken, schema: { hide, body: ConfirmForm } },
      async (request, reply) => {
        const caller = await findCaller(request);
        const returnTo = readReturnTo(request.body.returnTo);
        if (!caller) return reply.redirect(toSignInPath(returnTo), 303);
        const browser = createBrowser(request);
        try {
          const url = await beginConfirmation(ctx, caller, browser, returnTo);
          setBrowser(request, reply, browser, MAX_AGE_SECONDS);
          return await sendPage(reply, leavingPage(url));
        } catch (error) {
          if (!(error instanceof AppError)) throw error;
          return sendPage(reply, unconfirmedPage(error.message, returnTo), { status: error.statusCode });
        }
      },
    );

    scope.get(
      `${CALLBACK_PATH}/:orgId`,
      { schema: { hide, params: CallbackPath } },
      async (request, reply) => {
        const query = request.url.split('?').slice(1).join('?');
        const visitor = { client: getClient(request), caller: await findCaller(request) };
        const browser = readBrowser(request) ?? '';
        const completed = await completeProviderSignIn(ctx, request.params.orgId, query, browser, visitor);
        const returnTo = readReturnTo(completed.returnTo);
        if ('fault' in completed) {
          const { message, statusCode: status } = completed.fault;
          const toPage = completed.isConfirmation ? unconfirmedPage : failedPage;
          return sendPage(reply, toPage(message, returnTo), { status });
        }
        setBrowser(request, reply, '', 0);
        if (!completed.outcome) return reply.redirect(returnTo, 303);
        return continueSignIn(request, reply, sessions, completed.outcome, returnTo);
      },
    );
  });
}
