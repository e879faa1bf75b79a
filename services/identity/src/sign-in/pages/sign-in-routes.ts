import type { App } from '@platform/service-kit';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import { type AccountFlowContext, requestCode, requestReset } from '../account-flows/service.js';
import { getClient } from '../../base/caller/client.js';
import { readBrowserSecret } from '../known-devices/browser-cookie.js';
import { requireFormToken } from '../page-kit/form-token.js';
import { type Page, sendPage } from '../page-kit/page.js';
import { passkeyRefused } from '../passkeys/errors.js';
import { PasskeyAssertion } from '../passkeys/schemas.js';
import type { LoginBody } from '../sessions/schemas.js';
import { login, type SessionContext } from '../sessions/service.js';
import type { SignInOutcome } from '../sessions/sign-in-outcome.js';
import { continueSignIn, getFormState, showAgain } from './browser-session.js';
import {
  CODE_PATH,
  enterCodePage,
  FORGOT_PATH,
  forgotPasswordPage,
  PASSKEY_PATH,
  requestCodePage,
  resetRequestedPage,
  signInPage,
} from './pages.js';
import { readPasskey } from './passkey-forms.js';
import { readReturnTo, SIGN_IN_PATH } from './paths.js';
import { PasskeyText } from './pending-visits.js';
import { askAnyPasskey, signInWithPasskey } from '../second-factor/passkey-sign-in.js';
import type { SecondFactorContext } from '../second-factor/context.js';

export interface SignInPageDeps {
  readonly sessions: SessionContext;
  readonly flows: AccountFlowContext;
  readonly secondFactor: SecondFactorContext;
  /** Returns the organisation that has verified the domain of an address: that says nothing about who has an account. */
  findOrganisationOf(email: string): Promise<string | undefined>;
}

const PageQuery = Type.Object({
  returnTo: Type.Optional(Type.String()),
  prompt: Type.Optional(
    Type.String({ description: '`login` asks again although the browser is signed in.' }),
  ),
});

const Text = (maxLength: number) => Type.String({ maxLength });
const AddressForm = Type.Object({ returnTo: Text(4_096), email: Text(254) });
const PasswordForm = Type.Object({ ...AddressForm.properties, password: Text(256) });
const PasskeyForm = Type.Object({ returnTo: Text(4_096), passkey: PasskeyText });
const CodeForm = Type.Object({ ...AddressForm.properties, otp: Type.Optional(Text(6)) });

/** Names the organisation on the page that answers a form with an address. */
const nameOrganisation =
  (app: App, { findOrganisationOf }: SignInPageDeps) =>
  async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    const orgId = await findOrganisationOf((request.body as { readonly email: string }).email);
    reply.organisation = orgId === undefined ? undefined : await app.findOrganisationName(orgId);
  };

const hide = true;
const pageRoute = { schema: { hide, querystring: PageQuery } };

/** Signs in with a password or a mailed code, and continues at the address that the form names. */
async function signIn(
  request: FastifyRequest,
  reply: FastifyReply,
  { sessions }: SignInPageDeps,
  attempt: {
    readonly credentials: LoginBody;
    readonly returnTo: string;
    readonly toPage: (fault: string) => Page;
  },
): Promise<FastifyReply> {
  let outcome: SignInOutcome;
  try {
    outcome = await login(sessions, attempt.credentials, getClient(request), readBrowserSecret(request));
  } catch (error) {
    return showAgain(reply, error, attempt.toPage);
  }
  return continueSignIn(request, reply, sessions, outcome, attempt.returnTo);
}

export function passwordRoutes(app: App, deps: SignInPageDeps): void {
  app.get(SIGN_IN_PATH, pageRoute, async (request, reply) => {
    const { returnTo, prompt } = request.query;
    if (prompt !== 'login' && (await app.findBrowserSession(request)))
      return reply.redirect(readReturnTo(returnTo), 303);
    const state = getFormState(request, reply, { returnTo });
    return sendPage(reply, signInPage(state, askAnyPasskey(deps.secondFactor)));
  });
  app.post(
    SIGN_IN_PATH,
    { preHandler: [requireFormToken, nameOrganisation(app, deps)], schema: { hide, body: PasswordForm } },
    async (request, reply) => {
      const { email, password } = request.body;
      const state = getFormState(request, reply, request.body);
      return signIn(request, reply, deps, {
        credentials: { email, password },
        returnTo: state.returnTo,
        toPage: (fault) => signInPage({ ...state, fault }, askAnyPasskey(deps.secondFactor)),
      });
    },
  );
}

/** Signs in with a passkey alone. */
export function passkeyRoutes(app: App, { sessions, secondFactor }: SignInPageDeps): void {
  app.post(
    PASSKEY_PATH,
    { preHandler: requireFormToken, schema: { hide, body: PasskeyForm } },
    async (request, reply) => {
      const state = getFormState(request, reply, request.body);
      let outcome: SignInOutcome;
      try {
        const assertion = readPasskey(PasskeyAssertion, request.body.passkey);
        if (!assertion) throw passkeyRefused();
        outcome = await signInWithPasskey(secondFactor, assertion, getClient(request));
      } catch (error) {
        const toPage = (fault: string) => signInPage({ ...state, fault }, askAnyPasskey(secondFactor));
        return showAgain(reply, error, toPage);
      }
      return continueSignIn(request, reply, sessions, outcome, state.returnTo);
    },
  );
}

export function codeRoutes(app: App, deps: SignInPageDeps): void {
  app.get(CODE_PATH, pageRoute, async (request, reply) =>
    sendPage(reply, requestCodePage(getFormState(request, reply, request.query))),
  );
  // The form first names the account, and then the code that was mailed.
  app.post(
    CODE_PATH,
    { preHandler: [requireFormToken, nameOrganisation(app, deps)], schema: { hide, body: CodeForm } },
    async (request, reply) => {
      const { email, otp } = request.body;
      const state = getFormState(request, reply, request.body);
      if (otp !== undefined)
        return signIn(request, reply, deps, {
          credentials: { email, otp },
          returnTo: state.returnTo,
          toPage: (fault) => enterCodePage({ ...state, fault }),
        });
      try {
        await requestCode(deps.flows, email, getClient(request), readBrowserSecret(request));
      } catch (error) {
        return showAgain(reply, error, (fault) => requestCodePage({ ...state, fault }));
      }
      return sendPage(reply, enterCodePage(state));
    },
  );
}

export function forgotPasswordRoutes(app: App, deps: SignInPageDeps): void {
  app.get(FORGOT_PATH, pageRoute, async (request, reply) =>
    sendPage(reply, forgotPasswordPage(getFormState(request, reply, request.query))),
  );
  app.post(
    FORGOT_PATH,
    { preHandler: [requireFormToken, nameOrganisation(app, deps)], schema: { hide, body: AddressForm } },
    async (request, reply) => {
      const state = getFormState(request, reply, request.body);
      try {
        await requestReset(deps.flows, request.body.email, getClient(request), readBrowserSecret(request));
      } catch (error) {
        return showAgain(reply, error, (fault) => forgotPasswordPage({ ...state, fault }));
      }
      return sendPage(reply, resetRequestedPage(state));
    },
  );
}
