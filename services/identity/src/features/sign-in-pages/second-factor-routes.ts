import { type App, AppError } from '@platform/service-kit';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import { getClient } from '../known-devices/client.js';
import { requireFormToken } from '../pages/form-token.js';
import { sendPage } from '../pages/page.js';
import {
  getFormState,
  openBrowserSession,
  PENDING_COOKIE,
  setBrowserSession,
  showAgain,
} from './browser-session.js';
import { signInPage } from './pages.js';
import { readReturnTo, toSignInPath } from './paths.js';
import {
  recoveryCodesPage,
  SECOND_FACTOR_PATH,
  secondFactorPage,
  SET_UP_PATH,
  setUpPage,
} from './second-factor-pages.js';
import type { SignInPageDeps } from './sign-in-routes.js';

const hide = true;
const ReturnTo = Type.Object({ returnTo: Type.Optional(Type.String({ maxLength: 4_096 })) });
const CodeForm = Type.Object({ ...ReturnTo.properties, code: Type.String({ maxLength: 64 }) });
const ConfirmForm = Type.Object({ ...CodeForm.properties, enrolment: Type.String({ maxLength: 1_024 }) });

const REASON = 'Your organisation requires a second factor to sign in.';

const getChallenge = (request: FastifyRequest): string =>
  request.server.sessionCookies.readCookie(request.raw, PENDING_COOKIE) ?? '';

const isExpired = (error: unknown): boolean => error instanceof AppError && error.code === 'SIGN_IN_EXPIRED';

/** Shows the sign-in from its beginning when it has expired, or else the form again. */
function refuse(
  request: FastifyRequest,
  reply: FastifyReply,
  error: unknown,
  toPage: Parameters<typeof showAgain>[2],
): FastifyReply {
  const state = getFormState(request, reply, request.body as { returnTo?: string });
  return showAgain(reply, error, (fault) =>
    isExpired(error) ? signInPage({ ...state, fault }) : toPage(fault),
  );
}

/** The second step of a sign-in. The browser keeps its challenge in a cookie, which opens nothing else. */
export function secondFactorRoutes(app: App, { sessions, signInSteps }: SignInPageDeps): void {
  app.get(SECOND_FACTOR_PATH, { schema: { hide, querystring: ReturnTo } }, async (request, reply) => {
    const { returnTo } = request.query;
    const restart = () => reply.redirect(toSignInPath(readReturnTo(returnTo)), 303);
    try {
      const { step, email } = await signInSteps.describe(getChallenge(request));
      if (step === 'enrol')
        return await reply.redirect(toSignInPath(readReturnTo(returnTo), SET_UP_PATH), 303);
      return await sendPage(reply, secondFactorPage(getFormState(request, reply, { returnTo, email })));
    } catch (error) {
      if (isExpired(error)) return restart();
      throw error;
    }
  });
  app.post(
    SECOND_FACTOR_PATH,
    { preHandler: requireFormToken, schema: { hide, body: CodeForm } },
    async (request, reply) => {
      const challenge = getChallenge(request);
      const state = getFormState(request, reply, request.body);
      try {
        const opened = await signInSteps.passSecondFactor(challenge, request.body.code, getClient(request));
        return await openBrowserSession(request, reply, sessions, opened, state.returnTo);
      } catch (error) {
        return refuse(request, reply, error, (fault) => secondFactorPage({ ...state, fault }));
      }
    },
  );
}

/** The set-up of an authenticator app during a sign-in that requires one. */
export function setUpRoutes(app: App, { sessions, signInSteps }: SignInPageDeps): void {
  app.get(SET_UP_PATH, { schema: { hide, querystring: ReturnTo } }, async (request, reply) => {
    const { returnTo } = request.query;
    try {
      const enrolment = await signInSteps.enrol(getChallenge(request));
      const state = getFormState(request, reply, { returnTo });
      return await sendPage(reply, setUpPage(enrolment, SET_UP_PATH, { ...state, reason: REASON }));
    } catch (error) {
      if (isExpired(error)) return reply.redirect(toSignInPath(readReturnTo(returnTo)), 303);
      throw error;
    }
  });
  app.post(
    SET_UP_PATH,
    { preHandler: requireFormToken, schema: { hide, body: ConfirmForm } },
    async (request, reply) => {
      const challenge = getChallenge(request);
      const { enrolment, code } = request.body;
      const state = getFormState(request, reply, request.body);
      try {
        const opened = await signInSteps.confirmEnrolment(challenge, { enrolment, code }, getClient(request));
        await setBrowserSession(request, reply, sessions, opened);
        return await sendPage(reply, recoveryCodesPage(opened.recoveryCodes, state.returnTo));
      } catch (error) {
        if (isExpired(error))
          return refuse(request, reply, error, (fault) => signInPage({ ...state, fault }));
        const shown = await signInSteps.enrol(challenge, enrolment);
        return showAgain(reply, error, (fault) => setUpPage(shown, SET_UP_PATH, { ...state, fault }));
      }
    },
  );
}
