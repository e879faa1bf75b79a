import { getAccount, requireScopes, requireSession } from '@platform/auth';
import { type App, errorResponses } from '@platform/service-kit';
import { requireAdminRole } from '../../base/authority.js';
import { getCaller } from '../../base/caller/actor.js';
import { always } from '../../base/confirmation.js';
import { SavedSignInSettings, SaveSignInSettingsBody, SignInSettingsResponse } from './schemas.js';
import { findSignInSettings, saveSignInSettings, type SignInSettingsContext } from './service.js';

const tags = ['Configuration'];
const path = '/api/v1/configurationManager/signInConfig';

/** For administrators. Reading requires `config:read`, a change requires a session. */
function signInSettingsRoutes(app: App, ctx: SignInSettingsContext): void {
  app.get(
    path,
    {
      onRequest: [app.authenticate, requireScopes(['config:read']), requireAdminRole],
      schema: {
        operationId: 'getSignInConfig',
        tags,
        summary: 'How members of the organisation can sign in',
        description: 'Says whether codes are mailed, and whether a second factor is required.',
        response: { 200: SignInSettingsResponse, ...errorResponses(401, 403) },
      },
    },
    async (request) => ({ signIn: await findSignInSettings(ctx, getAccount(request).orgId) }),
  );
  app.post(
    path,
    {
      onRequest: [app.authenticate, requireSession, requireAdminRole],
      config: { needsConfirmation: always },
      schema: {
        operationId: 'saveSignInConfig',
        tags,
        summary: 'Choose how members of the organisation can sign in',
        description:
          'A setting that is left out keeps its value. While a second factor is required, members without one set it up at their next sign-in; `endSessions: true` ends the sessions that were opened without one. Tokens are not affected.',
        body: SaveSignInSettingsBody,
        response: { 200: SavedSignInSettings, ...errorResponses(400, 401, 403) },
      },
    },
    async (request) => ({
      message: 'Sign-in configuration saved',
      ...(await saveSignInSettings(ctx, getCaller(request), request.body)),
    }),
  );
}

/** Registers the settings of how members sign in. */
export function registerSignInSettings(app: App, ctx: SignInSettingsContext): void {
  signInSettingsRoutes(app, ctx);
}
