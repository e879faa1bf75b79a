import { getMember, requireSession } from '@platform/auth';
import { type App, errorResponses, Message } from '@platform/service-kit';
import { Type } from 'typebox';
import { requireAdminRole } from '../../../base/authority.js';
import { getCaller, toCaller } from '../../../base/caller/actor.js';
import { inAnySession } from '../../../base/confirmation.js';
import { type CheckContext, testOwnServer } from '../checks.js';
import { ServerPath, TestedServer } from '../schemas.js';
import type { ServerContext } from '../service.js';
import type { Revocations } from '../upstream/oauth/revocations.job.js';
import {
  ASKED_EVERY_DAYS,
  AskedMembers,
  CredentialPage,
  CredentialPath,
  CredentialQuery,
  MAX_ASKED,
  OwnServerResponse,
  OwnServers,
  SignInResponse,
  StoreBody,
} from './schemas.js';
import {
  askToConnect,
  getOwnServer,
  giveCredential,
  listCredentials,
  listOwnServers,
  removeCredential,
  removeOwnCredential,
  removeOwnCredentials,
  storeOwnCredential,
} from './service.js';
import {
  beginSignIn,
  CLIENT_DOCUMENT_PATH,
  completeSignIn,
  type SignInOutcome,
  UPSTREAM_CALLBACK_PATH,
  type UpstreamSignInContext,
} from './sign-in.js';
import { mailNotSetUp, serverMoved, signInFailed, signInNeeded } from './errors.js';

const base = '/api/v1/mcp-servers';
const tags = ['MCP servers'];

/** For members with a session, on the servers that they use as themselves. */
export function ownCredentialRoutes(app: App, ctx: ServerContext, revocations: Revocations): void {
  const onRequest = [app.authenticate, requireSession];
  app.get(
    `${base}/mine`,
    {
      onRequest,
      schema: {
        operationId: 'listOwnMcpServers',
        tags,
        summary: 'The MCP servers that the caller uses with a credential of their own, by name',
        description:
          'Says of each whether the caller has connected, and how: with a secret, or by signing in.',
        response: { 200: OwnServers, ...errorResponses(401, 403) },
      },
    },
    async (request) => ({ data: await listOwnServers(ctx, getMember(request)) }),
  );
  app.get(
    `${base}/:id/my-credential`,
    {
      onRequest,
      schema: {
        operationId: 'getOwnMcpCredential',
        tags,
        summary: 'Whether the caller has connected to an MCP server',
        description: 'The credential itself is never shown.',
        params: ServerPath,
        response: { 200: OwnServerResponse, ...errorResponses(400, 401, 403, 404) },
      },
    },
    async (request) => ({ server: await getOwnServer(ctx, getMember(request), request.params.id) }),
  );
  app.put(
    `${base}/:id/my-credential`,
    {
      onRequest,
      config: inAnySession,
      schema: {
        operationId: 'storeOwnMcpCredential',
        tags,
        summary:
          'Store the credential with which the caller is known at an MCP server; it is never shown again',
        description:
          'Replaces the one before. It is encrypted, and sent to this server only. Where people sign in at the server, `beginMcpSignIn` is the way.',
        params: ServerPath,
        body: StoreBody,
        response: {
          200: OwnServerResponse,
          ...errorResponses(400, 401, 403, 404, 409, serverMoved('https://wiki.example.com'), signInNeeded()),
        },
      },
    },
    async (request) => ({
      server: await storeOwnCredential(ctx, getCaller(request), request.params.id, request.body),
    }),
  );
  app.delete(
    `${base}/:id/my-credential`,
    {
      onRequest,
      config: inAnySession,
      schema: {
        operationId: 'removeOwnMcpCredential',
        tags,
        summary: "Delete the caller's credential at an MCP server, at once",
        description:
          "Calls of the caller's agents to the server fail from then on. Tokens of a sign-in are also revoked there.",
        params: ServerPath,
        response: { 200: Message, ...errorResponses(400, 401, 403, 404) },
      },
    },
    async (request) => {
      await removeOwnCredential(ctx, getCaller(request), request.params.id);
      revocations.wake();
      return { message: 'Disconnected' };
    },
  );
  app.delete(
    `${base}/mine`,
    {
      onRequest,
      config: inAnySession,
      schema: {
        operationId: 'removeOwnMcpCredentials',
        tags,
        summary: "Delete the caller's credentials at all MCP servers, at once",
        description: 'Tokens of sign-ins are also revoked at the servers. Repeating it removes nothing more.',
        response: {
          200: Type.Object({ message: Type.String(), removed: Type.Integer() }),
          ...errorResponses(401, 403),
        },
      },
    },
    async (request) => {
      const removed = await removeOwnCredentials(ctx, getCaller(request));
      revocations.wake();
      return { message: 'Disconnected', removed };
    },
  );
}

/** For members with a session: signing in at a server, and a test of what they have there. */
export function ownConnectionRoutes(app: App, signIns: UpstreamSignInContext, checks: CheckContext): void {
  const onRequest = [app.authenticate, requireSession];
  app.post(
    `${base}/:id/my-credential/sign-in`,
    {
      onRequest,
      config: inAnySession,
      schema: {
        operationId: 'beginMcpSignIn',
        tags,
        summary: 'Begin to sign in at an MCP server, in the browser of this session',
        description:
          'Returns the address to open in this browser. A sign-in at the same server that is in progress ends. At most 20 in a minute.',
        params: ServerPath,
        response: {
          200: SignInResponse,
          ...errorResponses(
            400,
            401,
            403,
            404,
            429,
            502,
            signInFailed(),
            serverMoved('https://wiki.example.com'),
          ),
        },
      },
    },
    async (request) => ({ url: await beginSignIn(signIns, getCaller(request), request.params.id) }),
  );
  app.post(
    `${base}/:id/my-credential/test`,
    {
      onRequest,
      schema: {
        operationId: 'testOwnMcpCredential',
        tags,
        summary:
          "Connect to an MCP server with the caller's credential and report what is wrong, if anything",
        description: 'Waits for the server. Nothing is stored.',
        params: ServerPath,
        response: { 200: TestedServer, ...errorResponses(400, 401, 403, 404, 429) },
      },
    },
    (request) => testOwnServer(checks, getMember(request), request.params.id),
  );
}

/** For administrators with a session, on who is connected to a server. */
export function accountCredentialRoutes(app: App, ctx: ServerContext, revocations: Revocations): void {
  const onRequest = [app.authenticate, requireAdminRole, requireSession];
  app.get(
    `${base}/:id/credentials`,
    {
      onRequest,
      schema: {
        operationId: 'listMcpCredentials',
        tags,
        summary: 'The accounts with a credential of their own at an MCP server, newest first',
        description: 'Pages by number, or by `cursor`. Credentials themselves are never shown.',
        params: ServerPath,
        querystring: CredentialQuery,
        response: { 200: CredentialPage, ...errorResponses(400, 401, 403, 404) },
      },
    },
    (request) => listCredentials(ctx, getMember(request), request.params.id, request.query),
  );
  app.post(
    `${base}/:id/credentials/requests`,
    {
      onRequest,
      config: inAnySession,
      schema: {
        operationId: 'askToConnect',
        tags,
        summary: `Mail members who may use an MCP server and have not connected: ${MAX_ASKED} at a time, each once in ${ASKED_EVERY_DAYS} days`,
        description:
          'Members who were asked within seven days are passed over, so repeating it mails nobody twice.',
        params: ServerPath,
        response: { 200: AskedMembers, ...errorResponses(400, 401, 403, 404, 503, mailNotSetUp()) },
      },
    },
    (request) => askToConnect(ctx, getCaller(request), request.params.id),
  );
  app.put(
    `${base}/:id/credentials/:accountId`,
    {
      onRequest,
      config: inAnySession,
      schema: {
        operationId: 'giveMcpCredential',
        tags,
        summary: 'Give a service account a credential of its own at an MCP server',
        description:
          'Replaces the one before. A server at which people sign in takes none of a service account.',
        params: CredentialPath,
        body: StoreBody,
        response: { 200: Message, ...errorResponses(400, 401, 403, 404, 409, signInNeeded()) },
      },
    },
    async (request) => {
      const { id, accountId } = request.params;
      await giveCredential(ctx, getCaller(request), id, accountId, request.body);
      return { message: 'Credential stored' };
    },
  );
  app.delete(
    `${base}/:id/credentials/:accountId`,
    {
      onRequest,
      config: inAnySession,
      schema: {
        operationId: 'removeMcpCredential',
        tags,
        summary: "Delete an account's credential at an MCP server, at once",
        description:
          'Calls of the account to the server fail from then on. Tokens of a sign-in are also revoked there.',
        params: CredentialPath,
        response: { 200: Message, ...errorResponses(400, 401, 403, 404) },
      },
    },
    async (request) => {
      const { id, accountId } = request.params;
      await removeCredential(ctx, getCaller(request), id, accountId);
      revocations.wake();
      return { message: 'Credential removed' };
    },
  );
}

const CallbackQuery = Type.Object({
  state: Type.Optional(Type.String({ maxLength: 512 })),
  code: Type.Optional(Type.String({ maxLength: 4_096 })),
  iss: Type.Optional(Type.String({ maxLength: 2_048 })),
});
const hide = true;

/**
 * Registers what browsers open on their way back from an authorization server, and the document by which such servers know the
 * platform. The answer counts only in the session that began the sign-in.
 */
export function signInCallbackRoutes(app: App, ctx: UpstreamSignInContext): void {
  const toConsole = (outcome: SignInOutcome, serverId?: string) =>
    `/account/services${serverId === undefined ? '' : `/${serverId}`}?signIn=${outcome}`;
  app.get(
    UPSTREAM_CALLBACK_PATH,
    { schema: { hide, querystring: CallbackQuery } },
    async (request, reply) => {
      void reply.headers({ 'cache-control': 'no-store', 'referrer-policy': 'no-referrer' });
      const member = await request.server.findBrowserSession(request);
      if (!member) return reply.redirect(toConsole('expired'), 303);
      const { outcome, serverId } = await completeSignIn(ctx, toCaller(member, request), request.query);
      return reply.redirect(toConsole(outcome, serverId), 303);
    },
  );
  app.get(CLIENT_DOCUMENT_PATH, { schema: { hide } }, () => ({
    client_id: ctx.identity.metadataUrl,
    ...ctx.identity.metadata,
  }));
}
