import type { App } from '@platform/service-kit';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import { getClient } from '../../base/caller/client.js';
import { requireFormToken } from '../page-kit/form-token.js';
import { sendPage } from '../page-kit/page.js';
import { PasskeyAssertion } from '../passkeys/schemas.js';
import { ownFactorRequired } from '../second-factor/errors.js';
import { toPresented } from '../second-factor/verify.js';
import { getFormState, openBrowserSession, showAgain } from './browser-session.js';
import { readPasskey } from './passkey-forms.js';
import { readReturnTo, toSignInPath } from './paths.js';
import { getChallenge, orRestart, orShowAgain, PasskeyText, ReturnTo, type Shown } from './pending-visits.js';
import { SECOND_FACTOR_PATH, secondFactorPage, SET_UP_PATH } from './second-factor-pages.js';
import type { SignInPageDeps } from './sign-in-routes.js';
import { askPasskey, describeSignIn, passSecondFactor } from '../second-factor/sign-in.js';

const hide = true;
const FactorForm = Type.Object({
  ...ReturnTo.properties,
  code: Type.Optional(Type.String({ maxLength: 64 })),
  passkey: Type.Optional(PasskeyText),
});

/** The second step of a sign-in. */
export function secondFactorRoutes(app: App, { sessions, secondFactor }: SignInPageDeps): void {
  async function show(request: FastifyRequest, reply: FastifyReply, shown: Shown): Promise<FastifyReply> {
    const challenge = getChallenge(request);
    const { step, email, organisation, ...factors } = await describeSignIn(secondFactor, challenge);
    reply.organisation = organisation;
    if (step === 'enrol') return reply.redirect(toSignInPath(shown.returnTo, SET_UP_PATH), 303);
    const options = factors.hasPasskey ? await askPasskey(secondFactor, challenge) : undefined;
    const state = { ...getFormState(request, reply, shown), email };
    const toPage = (fault?: string) => secondFactorPage({ ...state, fault }, factors, options);
    return shown.error === undefined ? sendPage(reply, toPage()) : showAgain(reply, shown.error, toPage);
  }

  app.get(SECOND_FACTOR_PATH, { schema: { hide, querystring: ReturnTo } }, (request, reply) => {
    const returnTo = readReturnTo(request.query.returnTo);
    return orRestart(request, reply, returnTo, () => show(request, reply, { returnTo }));
  });
  app.post(
    SECOND_FACTOR_PATH,
    { preHandler: requireFormToken, schema: { hide, body: FactorForm } },
    (request, reply) => {
      const returnTo = readReturnTo(request.body.returnTo);
      const pass = async () => {
        const passkey = readPasskey(PasskeyAssertion, request.body.passkey);
        const presented = toPresented({ code: request.body.code, passkey });
        if (!presented) throw ownFactorRequired();
        const client = getClient(request);
        const opened = await passSecondFactor(secondFactor, getChallenge(request), presented, client);
        return openBrowserSession(request, reply, sessions, opened, returnTo);
      };
      return orRestart(request, reply, returnTo, () =>
        orShowAgain(pass, (error) => show(request, reply, { returnTo, error })),
      );
    },
  );
}
