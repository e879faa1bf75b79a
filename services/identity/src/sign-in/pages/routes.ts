import type { App } from '@platform/service-kit';
import { toCaller } from '../../base/caller/actor.js';
import { createFormToken, requireFormToken } from '../page-kit/form-token.js';
import { sendPage } from '../page-kit/page.js';
import { registerPages } from '../page-kit/scope.js';
import { closeInBrowser } from '../sessions/send-outcome.js';
import { logout, type SessionContext } from '../sessions/service.js';
import { linkRoutes } from './link-routes.js';
import { signedOutPage, signOutPage } from './pages.js';
import { SIGN_OUT_PATH } from './paths.js';
import { secondFactorRoutes } from './second-factor-routes.js';
import { securityRoutes } from './security-routes.js';
import { setUpRoutes } from './set-up-routes.js';
import {
  codeRoutes,
  forgotPasswordRoutes,
  passkeyRoutes,
  passwordRoutes,
  type SignInPageDeps,
} from './sign-in-routes.js';

function signOutRoutes(app: App, ctx: SessionContext): void {
  const schema = { hide: true };
  app.get(SIGN_OUT_PATH, { schema }, async (request, reply) => {
    const member = await app.findBrowserSession(request);
    if (!member) return sendPage(reply, signedOutPage);
    return sendPage(reply, signOutPage(createFormToken(request, reply), member.email));
  });
  app.post(SIGN_OUT_PATH, { preHandler: requireFormToken, schema }, async (request, reply) => {
    const member = await app.findBrowserSession(request);
    if (member) await logout(ctx, toCaller(member, request));
    return closeInBrowser(reply).redirect(SIGN_OUT_PATH, 303);
  });
}

/** Open to everyone: the pages on which people sign in and out. They work without JavaScript and aren't part of the API. */
export function signInPageRoutes(app: App, deps: SignInPageDeps): void {
  registerPages(app, (scope) => {
    passwordRoutes(scope, deps);
    passkeyRoutes(scope, deps);
    codeRoutes(scope, deps);
    forgotPasswordRoutes(scope, deps);
    linkRoutes(scope, deps);
    secondFactorRoutes(scope, deps);
    setUpRoutes(scope, deps);
    securityRoutes(scope, deps.secondFactor);
    signOutRoutes(scope, deps.sessions);
  });
}
