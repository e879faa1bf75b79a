import { TOKEN_PATH } from '@platform/auth';
import { type App, errorResponses } from '@platform/service-kit';
import { Type } from 'typebox';
import { readClientCredentials } from './client-credentials.js';
import { NO_STORE_HEADERS, OAuthError, oauthError, sendOAuthError } from './oauth-errors.js';
import type { IssueServiceToken } from './service.js';

const ServiceTokenBody = Type.Object({
  grant_type: Type.String({ minLength: 1, description: 'Must be `client_credentials`.' }),
  scope: Type.Optional(
    Type.String({ description: 'Separated by spaces; all that the client has, without it.' }),
  ),
});

const ServiceTokenResponse = Type.Object(
  {
    access_token: Type.String(),
    token_type: Type.Literal('Bearer'),
    expires_in: Type.Integer({ description: 'Seconds.' }),
    scope: Type.String(),
  },
  { title: 'ServiceToken' },
);

/** For the platform's own services: the client credentials grant (RFC 6749 §4.4). */
export function serviceCredentialRoutes(app: App, issue: IssueServiceToken): void {
  app.post(
    TOKEN_PATH,
    {
      errorHandler: sendOAuthError,
      schema: {
        operationId: 'issueServiceToken',
        tags: ['Services'],
        summary: 'A short-lived credential for a service of the platform',
        consumes: ['application/x-www-form-urlencoded'],
        body: ServiceTokenBody,
        response: { 200: ServiceTokenResponse, ...errorResponses(), 400: OAuthError, 401: OAuthError },
      },
    },
    async (request, reply) => {
      const credentials = readClientCredentials(request.headers.authorization);
      if (!credentials) throw oauthError('invalid_client', 'Send the client id and secret with HTTP Basic');
      if (request.body.grant_type !== 'client_credentials')
        throw oauthError('unsupported_grant_type', 'The grant type must be client_credentials');
      return reply.headers(NO_STORE_HEADERS).send(await issue(credentials, request.body.scope));
    },
  );
}
