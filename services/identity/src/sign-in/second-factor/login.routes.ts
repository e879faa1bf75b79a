import { type App, errorResponses } from '@platform/service-kit';
import { getClient } from '../../base/caller/client.js';
import { CreationOptions, RequestOptions } from '../passkeys/schemas.js';
import { LoginResponse } from '../sessions/schemas.js';
import {
  enrolmentExpired,
  ownFactorRequired,
  signInExpired,
  wrongFirstCode,
  wrongSecondFactor,
} from './errors.js';
import {
  ChallengeBody,
  ConfirmAtSignInBody,
  EnrolledSession,
  EnrolmentResponse,
  NewPasskeyAtSignInBody,
  SecondFactorBody,
} from './schemas.js';
import { askPasskey, passSecondFactor } from './sign-in.js';
import { toPresented } from './verify.js';
import { noPasskey, passkeyExists, passkeyInvalid, passkeysUnavailable } from '../passkeys/errors.js';
import {
  beginPasskeyAtSignIn,
  confirmEnrolmentAtSignIn,
  confirmPasskeyAtSignIn,
  enrolAtSignIn,
} from './enrol-at-sign-in.js';
import type { SecondFactorContext } from './context.js';

const LOGIN = '/api/v1/auth/login/second-factor';

/** Open to everyone; each request proves its authority by the challenge of a pending sign-in. */
export function secondFactorLoginRoutes(app: App, ctx: SecondFactorContext): void {
  const tags = ['Sessions'];
  app.post(
    LOGIN,
    {
      schema: {
        operationId: 'loginSecondFactor',
        tags,
        summary: 'Complete a login with a code of the authenticator app, a recovery code or a passkey',
        description:
          'The challenge comes from `login` or `acceptInvitation`; it works once, for ten minutes. A code of the app is accepted once. Wrong codes are limited: 10 from one network in 15 minutes, and 30 in a day from all.',
        body: SecondFactorBody,
        response: {
          200: LoginResponse,
          ...errorResponses(400, 401, 429, wrongSecondFactor('wrong'), signInExpired()),
        },
      },
    },
    async (request) => {
      const { challenge, ...sent } = request.body;
      const presented = toPresented(sent);
      if (!presented) throw ownFactorRequired();
      return passSecondFactor(ctx, challenge, presented, getClient(request));
    },
  );
  app.post(
    `${LOGIN}/totp`,
    {
      schema: {
        operationId: 'enrolAtLogin',
        tags,
        summary: 'Set up an authenticator app during a login that requires one',
        description:
          'Takes the challenge of a login that failed with `SECOND_FACTOR_ENROLMENT_REQUIRED`. Show `uri` as a QR code, and send `enrolment` with the first code to `confirmEnrolmentAtLogin`. Nothing is stored until then.',
        body: ChallengeBody,
        response: { 200: EnrolmentResponse, ...errorResponses(400, 401, signInExpired()) },
      },
    },
    (request) => enrolAtSignIn(ctx, request.body.challenge),
  );
  app.post(
    `${LOGIN}/totp/confirm`,
    {
      schema: {
        operationId: 'confirmEnrolmentAtLogin',
        tags,
        summary: 'Confirm the authenticator app with its first code, and log in',
        description:
          'Opens the session, and returns recovery codes with it, which are shown this once. The challenge is used up.',
        body: ConfirmAtSignInBody,
        response: {
          200: EnrolledSession,
          ...errorResponses(400, 401, 429, signInExpired(), wrongFirstCode(), enrolmentExpired()),
        },
      },
    },
    async (request) => {
      const { challenge, ...sent } = request.body;
      return confirmEnrolmentAtSignIn(ctx, challenge, sent, getClient(request));
    },
  );
}

/** As {@link secondFactorLoginRoutes}, for passkeys. */
export function passkeyLoginRoutes(app: App, ctx: SecondFactorContext): void {
  const tags = ['Sessions'];
  app.post(
    `${LOGIN}/passkey-options`,
    {
      schema: {
        operationId: 'getPasskeyOptionsAtLogin',
        tags,
        summary: 'Ask for a passkey that completes a login; its answer goes to `…/second-factor`',
        description:
          'Returns the argument of `navigator.credentials.get`. It reveals nothing about an account before its first factor was right.',
        body: ChallengeBody,
        response: {
          200: RequestOptions,
          ...errorResponses(400, 401, 409, signInExpired(), noPasskey(), passkeysUnavailable()),
        },
      },
    },
    (request) => askPasskey(ctx, request.body.challenge),
  );
  app.post(
    `${LOGIN}/passkey-creation-options`,
    {
      schema: {
        operationId: 'enrolPasskeyAtLogin',
        tags,
        summary: 'Begin to set up a passkey during a login that requires a second factor',
        description:
          'Returns the argument of `navigator.credentials.create`. Its result goes to `confirmPasskeyAtLogin`; nothing is stored until then.',
        body: ChallengeBody,
        response: {
          200: CreationOptions,
          ...errorResponses(400, 401, 409, signInExpired(), passkeysUnavailable()),
        },
      },
    },
    (request) => beginPasskeyAtSignIn(ctx, request.body.challenge),
  );
  app.post(
    `${LOGIN}/passkeys`,
    {
      schema: {
        operationId: 'confirmPasskeyAtLogin',
        tags,
        summary: 'Store the passkey that was made, and log in',
        description:
          'Opens the session, and returns recovery codes where the account had no second factor. The challenge is used up. A passkey belongs to one account.',
        body: NewPasskeyAtSignInBody,
        response: {
          200: EnrolledSession,
          ...errorResponses(
            400,
            401,
            409,
            429,
            signInExpired(),
            passkeyInvalid(),
            passkeyExists(),
            enrolmentExpired(),
          ),
        },
      },
    },
    async (request) => {
      const { challenge, ...made } = request.body;
      return confirmPasskeyAtSignIn(ctx, challenge, made, getClient(request));
    },
  );
}
