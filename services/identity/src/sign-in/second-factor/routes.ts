import { requireSession } from '@platform/auth';
import { type App, errorResponses, IdPath, Message } from '@platform/service-kit';
import { requireAdminRole } from '../../base/authority.js';
import { getCaller } from '../../base/caller/actor.js';
import type { SecondFactorContext } from './context.js';
import { resetSecondFactor } from './reset.js';
import {
  ConfirmBody,
  Confirmed,
  EnrolmentResponse,
  ProofBody,
  RenewedCodes,
  SecondFactorResponse,
} from './schemas.js';
import { confirmApp, disableApp, enrolApp, getSecondFactor, renewOwnCodes } from './service.js';
import { always, inAnySession } from '../../base/confirmation.js';
import {
  enrolmentExpired,
  lastSecondFactor,
  noSecondFactor,
  ownFactorRequired,
  ownSecondFactor,
  wrongFirstCode,
  wrongOwnFactor,
} from './errors.js';

export const OWN = '/api/v1/auth/second-factor';

/** For members with a session: their own second factor. */
export function ownSecondFactorRoutes(app: App, ctx: SecondFactorContext): void {
  const tags = ['Account'];
  const onRequest = [app.authenticate, requireSession];
  app.get(
    OWN,
    {
      onRequest,
      schema: {
        operationId: 'getSecondFactor',
        tags,
        summary: 'The own second factor',
        description:
          'Says which factors the account has, and how many recovery codes are left. The codes themselves are never shown again.',
        response: { 200: SecondFactorResponse, ...errorResponses(401, 403) },
      },
    },
    async (request) => ({ secondFactor: await getSecondFactor(ctx, getCaller(request)) }),
  );
  app.post(
    `${OWN}/totp`,
    {
      onRequest,
      config: inAnySession,
      schema: {
        operationId: 'enrolTotp',
        tags,
        summary: 'Begin to set up an authenticator app; nothing changes until it is confirmed',
        description:
          'Show `uri` as a QR code, and send `enrolment` with the first code to `confirmTotp` within ten minutes. An account with a second factor has to prove it: with `code` or `passkey`.',
        body: ProofBody,
        response: {
          200: EnrolmentResponse,
          ...errorResponses(400, 401, 403, 429, ownFactorRequired(), wrongOwnFactor('wrong')),
        },
      },
    },
    (request) => enrolApp(ctx, getCaller(request), request.body),
  );
  app.post(
    `${OWN}/totp/confirm`,
    {
      onRequest,
      schema: {
        operationId: 'confirmTotp',
        tags,
        summary: 'Confirm the authenticator app with its first code, in the session that began it',
        description:
          'Works only while the second factor has not changed since. The first factor of an account comes with ten recovery codes, which are shown this once. The member is mailed.',
        body: ConfirmBody,
        response: { 200: Confirmed, ...errorResponses(400, 401, 403, enrolmentExpired(), wrongFirstCode()) },
      },
    },
    async (request) => {
      const recoveryCodes = await confirmApp(ctx, getCaller(request), request.body);
      return { message: 'Second factor set up', recoveryCodes };
    },
  );
  app.post(
    `${OWN}/totp/disable`,
    {
      onRequest,
      config: inAnySession,
      schema: {
        operationId: 'disableTotp',
        tags,
        summary: 'Remove the authenticator app',
        description:
          'Needs a proof of the second factor: `code` or `passkey`. The only factor cannot be removed while the organisation requires one. Recovery codes end with the last factor. The member is mailed.',
        body: ProofBody,
        response: {
          200: Message,
          ...errorResponses(
            400,
            401,
            403,
            409,
            429,
            ownFactorRequired(),
            wrongOwnFactor('wrong'),
            noSecondFactor(),
            lastSecondFactor(),
          ),
        },
      },
    },
    async (request) => {
      await disableApp(ctx, getCaller(request), request.body);
      return { message: 'Second factor removed' };
    },
  );
}

/** For members with a session: their recovery codes. */
export function recoveryCodeRoutes(app: App, ctx: SecondFactorContext): void {
  const tags = ['Account'];
  const onRequest = [app.authenticate, requireSession];
  app.post(
    `${OWN}/recovery-codes`,
    {
      onRequest,
      config: inAnySession,
      schema: {
        operationId: 'renewRecoveryCodes',
        tags,
        summary: 'Create new recovery codes; the earlier ones end',
        description:
          'Needs a proof of the second factor: `code` or `passkey`. The ten new codes are shown this once. The member is mailed.',
        body: ProofBody,
        response: {
          200: RenewedCodes,
          ...errorResponses(
            400,
            401,
            403,
            409,
            429,
            ownFactorRequired(),
            wrongOwnFactor('wrong'),
            noSecondFactor(),
          ),
        },
      },
    },
    async (request) => {
      const recoveryCodes = await renewOwnCodes(ctx, getCaller(request), request.body);
      return { recoveryCodes };
    },
  );
}

/** For administrators with a session. */
export function memberSecondFactorRoutes(app: App, ctx: SecondFactorContext): void {
  app.delete(
    '/api/v1/users/:id/second-factor',
    {
      onRequest: [app.authenticate, requireSession, requireAdminRole],
      config: { needsConfirmation: always },
      schema: {
        operationId: 'resetUserSecondFactor',
        tags: ['Users'],
        summary: "Remove a member's second factor, and end the member's sessions",
        description:
          'For a member who has lost the app and the passkeys. All factors and recovery codes end. The member is mailed. Administrators cannot do it for themselves.',
        params: IdPath,
        response: {
          200: Message,
          ...errorResponses(400, 401, 403, 404, 409, noSecondFactor(), ownSecondFactor()),
        },
      },
    },
    async (request) => {
      await resetSecondFactor(ctx, getCaller(request), request.params.id);
      return { message: 'Second factor reset' };
    },
  );
}
