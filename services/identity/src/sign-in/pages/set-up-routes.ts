import { type App, AppError } from '@platform/service-kit';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import { getClient } from '../../base/caller/client.js';
import { requireFormToken } from '../page-kit/form-token.js';
import { sendPage } from '../page-kit/page.js';
import { passkeyInvalid } from '../passkeys/errors.js';
import { PasskeyRegistration } from '../passkeys/schemas.js';
import {
  beginPasskeyAtSignIn,
  confirmEnrolmentAtSignIn,
  confirmPasskeyAtSignIn,
  enrolAtSignIn,
  type EnrolledSession,
} from '../second-factor/enrol-at-sign-in.js';
import { getFormState, setBrowserSession, showAgain } from './browser-session.js';
import { readPasskey } from './passkey-forms.js';
import { readReturnTo } from './paths.js';
import { getChallenge, orRestart, orShowAgain, PasskeyText, ReturnTo, type Shown } from './pending-visits.js';
import { recoveryCodesPage, SET_UP_PASSKEY_PATH, SET_UP_PATH, setUpPage } from './second-factor-pages.js';
import type { SignInPageDeps } from './sign-in-routes.js';
import { describeSignIn } from '../second-factor/sign-in.js';

const hide = true;
const ConfirmForm = Type.Object({
  ...ReturnTo.properties,
  code: Type.String({ maxLength: 64 }),
  enrolment: Type.String({ maxLength: 1_024 }),
});
const PasskeyForm = Type.Object({ ...ReturnTo.properties, passkey: PasskeyText });

const REASON = 'Your organisation requires a second factor to sign in.';

/** The set-up of a second factor during a sign-in that requires one. */
export function setUpRoutes(app: App, { sessions, secondFactor }: SignInPageDeps): void {
  /** Asks for a passkey too, where there can be one. */
  async function beginPasskey(challenge: string): Promise<object | undefined> {
    try {
      return await beginPasskeyAtSignIn(secondFactor, challenge);
    } catch (error) {
      if (error instanceof AppError && error.code === 'PASSKEYS_UNAVAILABLE') return undefined;
      throw error;
    }
  }

  async function show(
    request: FastifyRequest,
    reply: FastifyReply,
    shown: Shown & { readonly enrolment?: string },
  ): Promise<FastifyReply> {
    const challenge = getChallenge(request);
    reply.organisation = (await describeSignIn(secondFactor, challenge)).organisation;
    const enrolment = await enrolAtSignIn(secondFactor, challenge, shown.enrolment);
    const passkey = await beginPasskey(challenge);
    const state = { ...getFormState(request, reply, shown), reason: REASON, passkey };
    const toPage = (fault?: string) => setUpPage(enrolment, SET_UP_PATH, { ...state, fault });
    return shown.error === undefined ? sendPage(reply, toPage()) : showAgain(reply, shown.error, toPage);
  }

  /** Opens the session of a sign-in that is complete, and shows the recovery codes. */
  async function complete(
    request: FastifyRequest,
    reply: FastifyReply,
    returnTo: string,
    opened: EnrolledSession,
  ): Promise<FastifyReply> {
    await setBrowserSession(request, reply, sessions, opened);
    reply.organisation = await app.findOrganisationName(opened.user.orgId);
    return sendPage(reply, recoveryCodesPage(opened.recoveryCodes, returnTo));
  }

  app.get(SET_UP_PATH, { schema: { hide, querystring: ReturnTo } }, (request, reply) => {
    const returnTo = readReturnTo(request.query.returnTo);
    return orRestart(request, reply, returnTo, () => show(request, reply, { returnTo }));
  });
  app.post(
    SET_UP_PATH,
    { preHandler: requireFormToken, schema: { hide, body: ConfirmForm } },
    (request, reply) => {
      const { enrolment, code } = request.body;
      const returnTo = readReturnTo(request.body.returnTo);
      const confirm = async () => {
        const sent = { enrolment, code };
        const opened = await confirmEnrolmentAtSignIn(
          secondFactor,
          getChallenge(request),
          sent,
          getClient(request),
        );
        return complete(request, reply, returnTo, opened);
      };
      return orRestart(request, reply, returnTo, () =>
        orShowAgain(confirm, (error) => show(request, reply, { returnTo, error, enrolment })),
      );
    },
  );
  app.post(
    SET_UP_PASSKEY_PATH,
    { preHandler: requireFormToken, schema: { hide, body: PasskeyForm } },
    (request, reply) => {
      const returnTo = readReturnTo(request.body.returnTo);
      const confirm = async () => {
        const registration = readPasskey(PasskeyRegistration, request.body.passkey);
        if (!registration) throw passkeyInvalid();
        const made = { registration };
        const opened = await confirmPasskeyAtSignIn(
          secondFactor,
          getChallenge(request),
          made,
          getClient(request),
        );
        return complete(request, reply, returnTo, opened);
      };
      return orRestart(request, reply, returnTo, () =>
        orShowAgain(confirm, (error) => show(request, reply, { returnTo, error })),
      );
    },
  );
}
