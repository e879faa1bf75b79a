import type { App } from '@platform/service-kit';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { type Static, Type } from 'typebox';
import { type Caller, toCaller } from '../../base/caller/actor.js';
import { requireFormToken } from '../page-kit/form-token.js';
import { sendPage } from '../page-kit/page.js';
import { registerPages } from '../page-kit/scope.js';
import { getFormState, showAgain } from '../pages/browser-session.js';
import { CONFIRM_SESSION_PATH, readReturnTo, toSignInPath } from '../pages/paths.js';
import { confirmSessionPage, sessionConfirmedPage } from './page.js';
import { type ConfirmationContext, confirmSession, hasProvider, isConfirmed } from './service.js';

const hide = true;
const Path = Type.String({ maxLength: 4_096 });
const PageQuery = Type.Object({ returnTo: Type.Optional(Path), requestPage: Type.Optional(Path) });
const ConfirmForm = Type.Object({
  returnTo: Path,
  requestPage: Type.Optional(Path),
  password: Type.String({ minLength: 1, maxLength: 256 }),
});

interface Paths {
  readonly returnTo: string;
  readonly requestPage: string | undefined;
}

const readPaths = ({ returnTo, requestPage }: Static<typeof PageQuery>): Paths => ({
  returnTo: readReturnTo(returnTo ?? CONFIRM_SESSION_PATH),
  requestPage: requestPage === undefined ? undefined : readReturnTo(requestPage),
});

/** For people who are signed in: the page on which they confirm it with the password or at their provider. */
export function confirmationPageRoutes(app: App, ctx: ConfirmationContext): void {
  async function show(
    request: FastifyRequest,
    reply: FastifyReply,
    caller: Caller,
    { returnTo, requestPage, error }: Paths & { readonly error?: unknown },
  ): Promise<FastifyReply> {
    const isConnected = await hasProvider(ctx, caller);
    const state = { ...getFormState(request, reply, { returnTo }), requestPage };
    const toPage = (fault?: string) => confirmSessionPage(caller.email, isConnected, { ...state, fault });
    return error === undefined ? sendPage(reply, toPage()) : showAgain(reply, error, toPage);
  }

  registerPages(app, (scope) => {
    scope.get(CONFIRM_SESSION_PATH, { schema: { hide, querystring: PageQuery } }, async (request, reply) => {
      const paths = readPaths(request.query);
      const { returnTo } = paths;
      const member = await scope.findBrowserSession(request);
      // Who signs in has confirmed it.
      if (!member) return reply.redirect(toSignInPath(returnTo), 303);
      if (await isConfirmed(ctx, member))
        return sendPage(reply, sessionConfirmedPage(member.email, returnTo));
      return show(request, reply, toCaller(member, request), paths);
    });
    scope.post(
      CONFIRM_SESSION_PATH,
      { preHandler: requireFormToken, schema: { hide, body: ConfirmForm } },
      async (request, reply) => {
        const paths = readPaths(request.body);
        const { returnTo } = paths;
        const member = await scope.findBrowserSession(request);
        if (!member) return reply.redirect(toSignInPath(returnTo), 303);
        const caller = toCaller(member, request);
        try {
          await confirmSession(ctx, caller, request.body.password);
        } catch (error) {
          return show(request, reply, caller, { ...paths, error });
        }
        return reply.redirect(returnTo, 303);
      },
    );
  });
}
