import { randomBytes } from 'node:crypto';
import type { App } from '@platform/service-kit';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import { getClient } from '../known-devices/client.js';
import { requireFormToken } from '../pages/form-token.js';
import { sendPage } from '../pages/page.js';
import { registerPages } from '../pages/scope.js';
import type { SessionService } from '../sessions/service.js';
import { continueSignIn, getFormState, showAgain } from '../sign-in-pages/browser-session.js';
import { PROVIDER_PATH } from '../sign-in-pages/pages.js';
import { readReturnTo } from '../sign-in-pages/paths.js';
import { CALLBACK_PATH, failedPage, leavingPage, providerPage } from './pages.js';
import type { ProviderSignIns } from './service.js';

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

const readBrowser = ({ server, raw }: FastifyRequest): string | undefined =>
  server.sessionCookies.readCookie(raw, COOKIE);

function setBrowser({ server }: FastifyRequest, reply: FastifyReply, secret: string, maxAge: number): void {
  reply.header('set-cookie', server.sessionCookies.toCookie(COOKIE, secret, maxAge));
}

/** Open to everyone: the pages on which people sign in with the identity provider of their organisation. */
export function providerSignInRoutes(
  app: App,
  { signIns, sessions }: { readonly signIns: ProviderSignIns; readonly sessions: SessionService },
): void {
  registerPages(app, (scope) => {
    scope.get(PROVIDER_PATH, { schema: { hide, querystring: PageQuery } }, (request, reply) =>
      sendPage(reply, providerPage(getFormState(request, reply, request.query))),
    );

    scope.post(
      PROVIDER_PATH,
      { preHandler: requireFormToken, schema: { hide, body: AddressForm } },
      async (request, reply) => {
        const state = getFormState(request, reply, request.body);
        // A browser with several tabs keeps its secret, so that each of them can come back.
        const browser = readBrowser(request) ?? randomBytes(32).toString('base64url');
        const to = { returnTo: state.returnTo, client: getClient(request) };
        try {
          const url = await signIns.begin(request.body.email, browser, to);
          setBrowser(request, reply, browser, MAX_AGE_SECONDS);
          return await sendPage(reply, leavingPage(url));
        } catch (error) {
          return showAgain(reply, error, (fault) => providerPage({ ...state, fault }));
        }
      },
    );

    scope.get(
      `${CALLBACK_PATH}/:orgId`,
      { schema: { hide, params: CallbackPath } },
      async (request, reply) => {
        const query = request.url.split('?').slice(1).join('?');
        const { orgId } = request.params;
        const browser = readBrowser(request) ?? '';
        const completed = await signIns.complete(orgId, query, browser, getClient(request));
        if ('fault' in completed) {
          const { message, statusCode: status } = completed.fault;
          return sendPage(reply, failedPage(message, readReturnTo(completed.returnTo)), { status });
        }
        setBrowser(request, reply, '', 0);
        return continueSignIn(request, reply, sessions, completed.outcome, completed.returnTo);
      },
    );
  });
}
