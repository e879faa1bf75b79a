import { getAccount, requireAccount, requireScopes, requireSession } from '@platform/auth';
import { type App, errorResponses, IdPath, ListPageOf, Message } from '@platform/service-kit';
import { Type } from 'typebox';
import { requireAdminRole } from '../../base/authority.js';
import { getCaller } from '../../base/caller/actor.js';
import { always, withField } from '../../base/confirmation.js';
import {
  CallerResponse,
  ChangeMeBody,
  ChangeUserBody,
  CreateUserBody,
  Member,
  MemberDetails,
  MemberQuery,
  RemoveUserQuery,
  toCallerFields,
  UserResponse,
} from './schemas.js';
import { removalRoute } from './removal.js';
import {
  changeUser,
  createUser,
  getUser,
  listUsers,
  removeUser,
  renameCaller,
  type UserContext,
} from './service.js';
import {
  emailTaken,
  invitationAccepted,
  lastAdmin,
  mailUnavailable,
  sessionRequiredForAdmins,
} from './errors.js';

const tags = ['Users'];

/** Registers the route of the own account, for members and service accounts; a token requires `user:read`. */
function ownUserRoutes(app: App, ctx: UserContext): void {
  app.get(
    '/api/v1/users/me',
    {
      onRequest: [app.authenticate, requireAccount, requireScopes(['user:read'])],
      schema: {
        operationId: 'getMe',
        tags,
        summary: 'The member or the service account behind the credential',
        description:
          '`user` for a person, `serviceAccount` for a service account; the other one is null. `credential` says what the request was made with: its kind, scopes, bounds and expiry.',
        response: { 200: CallerResponse, ...errorResponses(401, 403) },
      },
    },
    (request, reply) => {
      // The liveness check has loaded all of these fields.
      void reply.send(toCallerFields(getAccount(request)));
    },
  );
  app.patch(
    '/api/v1/users/me',
    {
      onRequest: [app.authenticate, requireSession],
      schema: {
        operationId: 'changeMe',
        tags,
        summary: 'Change the own name, with a session',
        description: 'The address and the role of a member are not changed by the member.',
        body: ChangeMeBody,
        response: { 200: UserResponse, ...errorResponses(400, 401, 403) },
      },
    },
    async (request) => ({ user: await renameCaller(ctx, getCaller(request), request.body.fullName) }),
  );
}

/**
 * For administrators; a token requires `user:read` or `user:write`. Creating a member requires a session: the new member
 * can log in, and a session isn't limited by the scopes of the token that created it.
 */
function userRoutes(app: App, ctx: UserContext): void {
  const read = [app.authenticate, requireScopes(['user:read']), requireAdminRole];
  const write = [app.authenticate, requireScopes(['user:write']), requireAdminRole];
  const create = [app.authenticate, requireSession, requireAdminRole];
  app.get(
    '/api/v1/users',
    {
      onRequest: read,
      schema: {
        operationId: 'listUsers',
        tags,
        summary: 'The members, newest first or by name',
        description:
          'Pages by number, or by `cursor` at the same cost at any depth. `q` finds a part of a name or an address.',
        querystring: MemberQuery,
        response: { 200: ListPageOf(Member), ...errorResponses(400, 401, 403) },
      },
    },
    (request) => listUsers(ctx, getAccount(request), request.query),
  );
  app.post(
    '/api/v1/users',
    {
      onRequest: create,
      config: { isIdempotent: true, needsConfirmation: always },
      schema: {
        operationId: 'createUser',
        tags,
        summary: 'Add a member; without a password they are invited by mail',
        description:
          'With a password, the member can log in at once. Without, an invitation is mailed that works once, for seven days. An address that cannot be used is 409 `EMAIL_TAKEN`, so a repeated request adds nobody.',
        body: CreateUserBody,
        response: {
          201: UserResponse,
          ...errorResponses(400, 401, 403, 409, emailTaken(), mailUnavailable()),
        },
      },
    },
    async (request, reply) =>
      reply.code(201).send({ user: await createUser(ctx, getCaller(request), request.body) }),
  );
  app.get(
    '/api/v1/users/:id',
    {
      onRequest: read,
      schema: {
        operationId: 'getUser',
        tags,
        summary: 'A member, with the groups and the last sign of life',
        description:
          '`lastSeenAt` is when the member last signed in, or a token or connected app last acted for them.',
        params: IdPath,
        response: { 200: Type.Object({ user: MemberDetails }), ...errorResponses(400, 401, 403, 404) },
      },
    },
    async (request) => ({ user: await getUser(ctx, getAccount(request), request.params.id) }),
  );
  app.patch(
    '/api/v1/users/:id',
    {
      onRequest: write,
      config: { needsConfirmation: withField('role') },
      schema: {
        operationId: 'changeUser',
        tags,
        summary: "Change a member's name or role",
        description:
          "A new role takes effect with the next request of each session and token; tokens of a former administrator lose the administrators' scopes. The last administrator cannot be demoted.",
        params: IdPath,
        body: ChangeUserBody,
        response: {
          200: UserResponse,
          ...errorResponses(400, 401, 403, 404, 409, lastAdmin(), sessionRequiredForAdmins()),
        },
      },
    },
    async (request) => ({ user: await changeUser(ctx, getCaller(request), request.params.id, request.body) }),
  );
  app.delete(
    '/api/v1/users/:id',
    {
      onRequest: write,
      config: { needsConfirmation: always },
      schema: {
        operationId: 'removeUser',
        tags,
        summary: 'Remove a member, with the sessions and tokens',
        description:
          'Sessions, tokens, connected apps and credentials at mounted servers end at once, and cannot be restored. Service accounts that the member has set up stay. The last administrator cannot be removed.',
        params: IdPath,
        querystring: RemoveUserQuery,
        response: {
          200: Message,
          ...errorResponses(
            400,
            401,
            403,
            404,
            409,
            lastAdmin(),
            invitationAccepted(),
            sessionRequiredForAdmins(),
          ),
        },
      },
    },
    async (request) => {
      await removeUser(ctx, getCaller(request), request.params.id, request.query);
      return { message: 'User removed' };
    },
  );
}

/** Registers the caller's own account, and the members that administrators manage. */
export function registerUsers(app: App, ctx: UserContext): void {
  ownUserRoutes(app, ctx);
  userRoutes(app, ctx);
  removalRoute(app, ctx);
}
