import { requireSession } from '@platform/auth';
import { type App, errorResponses, IdPath, Message } from '@platform/service-kit';
import { inAnySession } from '../../base/confirmation.js';
import { getCaller } from '../../base/caller/actor.js';
import { CreationOptions, RequestOptions } from '../passkeys/schemas.js';
import {
  beginOwnPasskey,
  beginPasskeyProof,
  confirmOwnPasskey,
  removeOwnPasskey,
  renameOwnPasskey,
} from './own-passkeys.js';
import { OWN } from './routes.js';
import { Confirmed, NewPasskeyBody, ProofBody, RenameBody } from './schemas.js';
import {
  noPasskey,
  passkeyExists,
  passkeyInvalid,
  passkeyLimit,
  passkeysUnavailable,
} from '../passkeys/errors.js';
import { enrolmentExpired, lastSecondFactor, ownFactorRequired, wrongOwnFactor } from './errors.js';
import type { SecondFactorContext } from './context.js';

/** For members with a session: how a passkey is asked for, and how one is added. */
export function newPasskeyRoutes(app: App, ctx: SecondFactorContext): void {
  const tags = ['Account'];
  const onRequest = [app.authenticate, requireSession];
  app.post(
    `${OWN}/passkey-options`,
    {
      onRequest,
      schema: {
        tags,
        operationId: 'getPasskeyOptions',
        summary:
          'Ask for one of the own passkeys; its answer is the `passkey` of a change of the second factor',
        description:
          'Returns the argument of `navigator.credentials.get`. The result proves the second factor in the next change of it, once.',
        response: {
          200: RequestOptions,
          ...errorResponses(401, 403, 409, noPasskey(), passkeysUnavailable()),
        },
      },
    },
    (request) => beginPasskeyProof(ctx, getCaller(request)),
  );
  app.post(
    `${OWN}/passkey-creation-options`,
    {
      onRequest,
      config: inAnySession,
      schema: {
        tags,
        operationId: 'enrolPasskey',
        summary: 'Begin to set up a passkey; nothing changes until it is confirmed',
        description:
          'Returns the argument of `navigator.credentials.create`. An account with a second factor has to prove it: with `code` or `passkey`. An account has at most ten passkeys.',
        body: ProofBody,
        response: {
          200: CreationOptions,
          ...errorResponses(
            400,
            401,
            403,
            409,
            429,
            ownFactorRequired(),
            wrongOwnFactor('wrong'),
            passkeyLimit(),
            passkeysUnavailable(),
          ),
        },
      },
    },
    (request) => beginOwnPasskey(ctx, getCaller(request), request.body),
  );
  app.post(
    `${OWN}/passkeys`,
    {
      onRequest,
      schema: {
        tags,
        operationId: 'confirmPasskey',
        summary: 'Store the passkey that was made, in the session that began it',
        description:
          'Works only while no factor has changed since `enrolPasskey`. The first factor of an account comes with ten recovery codes, which are shown this once. The member is mailed.',
        body: NewPasskeyBody,
        response: {
          200: Confirmed,
          ...errorResponses(
            400,
            401,
            403,
            409,
            passkeyInvalid(),
            passkeyExists(),
            enrolmentExpired(),
            passkeyLimit(),
          ),
        },
      },
    },
    async (request) => {
      const recoveryCodes = await confirmOwnPasskey(ctx, getCaller(request), request.body);
      return { message: 'Passkey set up', recoveryCodes };
    },
  );
}

/** For members with a session: the passkeys that they have. */
export function storedPasskeyRoutes(app: App, ctx: SecondFactorContext): void {
  const tags = ['Account'];
  const onRequest = [app.authenticate, requireSession];
  app.patch(
    `${OWN}/passkeys/:id`,
    {
      onRequest,
      schema: {
        tags,
        operationId: 'renamePasskey',
        summary: 'Rename an own passkey',
        description: 'The name is for the member alone; the passkey itself does not change.',
        params: IdPath,
        body: RenameBody,
        response: { 200: Message, ...errorResponses(400, 401, 403, 404) },
      },
    },
    async (request) => {
      await renameOwnPasskey(ctx, getCaller(request), request.params.id, request.body.name);
      return { message: 'Passkey renamed' };
    },
  );
  app.post(
    `${OWN}/passkeys/:id/remove`,
    {
      onRequest,
      config: inAnySession,
      schema: {
        tags,
        operationId: 'removePasskey',
        summary: 'Remove an own passkey',
        description:
          'Needs a proof of the second factor: `code` or `passkey`. The only factor cannot be removed while the organisation requires one. The member is mailed.',
        params: IdPath,
        body: ProofBody,
        response: {
          200: Message,
          ...errorResponses(
            400,
            401,
            403,
            404,
            409,
            429,
            ownFactorRequired(),
            wrongOwnFactor('wrong'),
            lastSecondFactor(),
          ),
        },
      },
    },
    async (request) => {
      await removeOwnPasskey(ctx, getCaller(request), request.params.id, request.body);
      return { message: 'Passkey removed' };
    },
  );
}
