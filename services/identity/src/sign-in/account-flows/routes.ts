import { type App, errorResponses, Message, withErrors } from '@platform/service-kit';
import { getClient } from '../../base/caller/client.js';
import { LoginRefused, LoginResponse } from '../sessions/schemas.js';
import { missingFactors, sendOutcome } from '../sessions/send-outcome.js';
import { AcceptInvitationBody, AddressBody, LinkResponse, LinkBody, ResetPasswordBody } from './schemas.js';
import {
  acceptInvitation,
  type AccountFlowContext,
  describeLink,
  requestCode,
  requestReset,
  resetPassword,
} from './service.js';
import { linkInvalid } from './errors.js';

const tags = ['Account'];
const accepted = { message: 'If there is such an account, a mail is on its way' };

/** Open to everyone, with limits per account and per address. The responses don't reveal whether an account exists. */
export function accountRequestRoutes(app: App, ctx: AccountFlowContext): void {
  const schema = { tags, body: AddressBody, response: { 202: Message, ...errorResponses(400, 429) } };
  app.post(
    '/api/v1/auth/otp',
    {
      schema: {
        ...schema,
        operationId: 'requestCode',
        summary: 'Mail a code to log in with',
        description:
          'The answer is the same whether or not the account exists. The code has six digits, and works once, for ten minutes, with `login`.',
      },
    },
    async (request, reply) => {
      await requestCode(ctx, request.body.email, getClient(request));
      return reply.code(202).send(accepted);
    },
  );
  app.post(
    '/api/v1/auth/password/forgot',
    {
      schema: {
        ...schema,
        operationId: 'forgotPassword',
        summary: 'Mail a link to choose a new password',
        description:
          'The answer is the same whether or not the account exists. The link works once, for an hour, with `resetPassword`.',
      },
    },
    async (request, reply) => {
      await requestReset(ctx, request.body.email, getClient(request));
      return reply.code(202).send(accepted);
    },
  );
}

/** Open to everyone; each request proves its authority by the token of a mailed link. */
export function accountLinkRoutes(app: App, ctx: AccountFlowContext): void {
  app.post(
    '/api/v1/auth/links',
    {
      schema: {
        operationId: 'describeLink',
        tags,
        summary: 'Whose mailed link this is; it is not used up',
        description:
          'Returns the account and the organisation of a link in an invitation or a reset. Repeating it changes nothing.',
        body: LinkBody,
        response: { 200: LinkResponse, ...errorResponses(400, 429, linkInvalid()) },
      },
    },
    async (request) => ({ link: await describeLink(ctx, request.body.token, request.ip) }),
  );
  app.post(
    '/api/v1/auth/password/reset',
    {
      schema: {
        operationId: 'resetPassword',
        tags,
        summary: 'Choose a new password; all sessions end',
        description:
          'Takes the token in the fragment of a mailed link. It works once. All sessions of the member end; tokens and connected apps stay.',
        body: ResetPasswordBody,
        response: { 200: Message, ...errorResponses(400, 429, linkInvalid()) },
      },
    },
    async (request) => {
      await resetPassword(ctx, request.body, getClient(request));
      return { message: 'Password changed' };
    },
  );
  app.post(
    '/api/v1/auth/invitations/accept',
    {
      schema: {
        operationId: 'acceptInvitation',
        tags,
        summary: 'Choose a password for an invited account, and log in',
        description:
          'Takes the token in the fragment of the mailed link, which works once, for seven days. It answers as `login` does: an organisation may require a second factor first.',
        body: AcceptInvitationBody,
        response: {
          200: LoginResponse,
          401: withErrors(LoginRefused, missingFactors),
          ...errorResponses(400, 429, linkInvalid()),
        },
      },
    },
    async (request, reply) =>
      sendOutcome(reply, await acceptInvitation(ctx, request.body, getClient(request))),
  );
}
