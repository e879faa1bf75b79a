import { getAccount, requireScopes } from '@platform/auth';
import { type App, errorResponses, ListPageOf, Message } from '@platform/service-kit';
import { Type } from 'typebox';
import { requireAdminRole } from '../base/authority.js';
import { getCaller } from '../base/caller/actor.js';
import { always } from '../base/confirmation.js';
import {
  groupInUse,
  managedByProvider,
  memberNotFound,
  nameTaken,
  tooManyGroups,
  tooManyMemberships,
} from './errors.js';
import {
  ChangeGroupBody,
  CreateGroupBody,
  Group,
  GroupMember,
  GroupPath,
  GroupQuery,
  GroupResponse,
  GroupUse,
  MemberPath,
  MemberQuery,
  MembersBody,
  MembersChanged,
  RemoveGroupQuery,
} from './schemas.js';
import {
  addGroupMembers,
  changeGroup,
  createGroup,
  getGroup,
  type GroupsContext,
  listGroupMembers,
  listGroups,
  listGroupUses,
  removeGroup,
  removeGroupMembers,
} from './service.js';

const base = '/api/v1/groups';
const tags = ['Groups'];

/** For administrators; a token requires `user:read` or `user:write`. [GRP-1] */
function groupRoutes(app: App, ctx: GroupsContext): void {
  const read = [app.authenticate, requireScopes(['user:read']), requireAdminRole];
  const write = [app.authenticate, requireScopes(['user:write']), requireAdminRole];
  app.get(
    base,
    {
      onRequest: read,
      schema: {
        operationId: 'listGroups',
        tags,
        summary: 'The groups, newest first',
        description:
          'Pages by number, or by `cursor`. `q` finds a part of a name, in any case. Groups that the identity provider states are included.',
        querystring: GroupQuery,
        response: { 200: ListPageOf(Group), ...errorResponses(400, 401, 403) },
      },
    },
    (request) => listGroups(ctx, getAccount(request), request.query),
  );
  app.post(
    base,
    {
      onRequest: write,
      config: { isIdempotent: true },
      schema: {
        operationId: 'createGroup',
        tags,
        summary: 'Create a group without members',
        description:
          'Names are unique among the groups of a source, in any case. An organisation has at most 5,000 groups.',
        body: CreateGroupBody,
        response: {
          201: GroupResponse,
          ...errorResponses(400, 401, 403, 409, nameTaken(), tooManyGroups(5_000)),
        },
      },
    },
    async (request, reply) =>
      reply.code(201).send({ group: await createGroup(ctx, getCaller(request), request.body) }),
  );
  app.get(
    `${base}/:groupId`,
    {
      onRequest: read,
      schema: {
        operationId: 'getGroup',
        tags,
        summary: 'A group',
        description: 'Has the number of members, and whether the identity provider decides who they are.',
        params: GroupPath,
        response: { 200: GroupResponse, ...errorResponses(400, 401, 403, 404) },
      },
    },
    async (request) => ({ group: await getGroup(ctx, getAccount(request), request.params.groupId) }),
  );
  app.get(
    `${base}/:groupId/uses`,
    {
      onRequest: read,
      schema: {
        operationId: 'listGroupUses',
        tags,
        summary:
          'The mounted servers and tools that are limited to a group, beginning with those of it alone',
        description: 'Those of the group alone are closed when it is removed.',
        params: GroupPath,
        response: { 200: Type.Object({ data: Type.Array(GroupUse) }), ...errorResponses(400, 401, 403, 404) },
      },
    },
    async (request) => ({ data: await listGroupUses(ctx, getAccount(request), request.params.groupId) }),
  );
  app.patch(
    `${base}/:groupId`,
    {
      onRequest: write,
      // Whoever reads groups by their names gives its members what a group of the new name has.
      config: { needsConfirmation: always },
      schema: {
        operationId: 'changeGroup',
        tags,
        summary: 'Rename a group, or change its external id',
        description: 'A group of the identity provider is changed by the provider alone. Its members stay.',
        params: GroupPath,
        body: ChangeGroupBody,
        response: {
          200: GroupResponse,
          ...errorResponses(400, 401, 403, 404, 409, nameTaken(), managedByProvider()),
        },
      },
    },
    async (request) => ({
      group: await changeGroup(ctx, getCaller(request), request.params.groupId, request.body),
    }),
  );
  app.delete(
    `${base}/:groupId`,
    {
      onRequest: write,
      config: { needsConfirmation: always },
      schema: {
        operationId: 'removeGroup',
        tags,
        summary: 'Remove a group with its memberships',
        description:
          'What is limited to this group alone would then be for nobody: 409 `GROUP_IN_USE` names it, unless `force=true`. A group of the provider comes back with the next sign-in that names it.',
        params: GroupPath,
        querystring: RemoveGroupQuery,
        response: { 200: Message, ...errorResponses(400, 401, 403, 404, 409, groupInUse(['wiki__search'])) },
      },
    },
    async (request) => {
      await removeGroup(ctx, getCaller(request), request.params.groupId, request.query);
      return { message: 'Group removed' };
    },
  );
}

/** For administrators, as the routes of groups. Whoever is in a group can use what is limited to it. */
function memberRoutes(app: App, ctx: GroupsContext): void {
  const read = [app.authenticate, requireScopes(['user:read']), requireAdminRole];
  const write = [app.authenticate, requireScopes(['user:write']), requireAdminRole];
  app.get(
    `${base}/:groupId/members`,
    {
      onRequest: read,
      schema: {
        operationId: 'listGroupMembers',
        tags,
        summary: 'The members and service accounts in a group, the newest account first',
        description: 'Pages by number, or by `cursor`.',
        params: GroupPath,
        querystring: MemberQuery,
        response: { 200: ListPageOf(GroupMember), ...errorResponses(400, 401, 403, 404) },
      },
    },
    (request) => listGroupMembers(ctx, getAccount(request), request.params.groupId, request.query),
  );
  app.post(
    `${base}/:groupId/members`,
    {
      onRequest: write,
      config: { needsConfirmation: always },
      schema: {
        operationId: 'addGroupMembers',
        tags,
        summary: 'Add up to 1,000 members and service accounts to a group: all or none',
        description:
          'Accounts that are in the group already are counted as unchanged, so repeating it does no harm. An unknown id is 404, and then nobody is added. An account is in at most 200 groups.',
        params: GroupPath,
        body: MembersBody,
        response: {
          200: MembersChanged,
          ...errorResponses(
            400,
            401,
            403,
            404,
            409,
            managedByProvider(),
            tooManyMemberships(200, 'Ada Lovelace'),
          ),
        },
      },
    },
    async (request) => {
      const { params, body } = request;
      const changedCount = await addGroupMembers(ctx, getCaller(request), params.groupId, body.members);
      return { message: 'Members added', changedCount };
    },
  );
  app.post(
    `${base}/:groupId/members/remove`,
    {
      onRequest: write,
      config: { needsConfirmation: always },
      schema: {
        operationId: 'removeGroupMembers',
        tags,
        summary: 'Remove up to 1,000 members and service accounts from a group; others are ignored',
        description: 'Accounts that are not in the group are passed over, so repeating it does no harm.',
        params: GroupPath,
        body: MembersBody,
        response: { 200: MembersChanged, ...errorResponses(400, 401, 403, 404, 409, managedByProvider()) },
      },
    },
    async (request) => {
      const { params, body } = request;
      const changedCount = await removeGroupMembers(ctx, getCaller(request), params.groupId, body.members);
      return { message: 'Members removed', changedCount };
    },
  );
}

/** For one member, as the routes for many. */
function oneMemberRoutes(app: App, ctx: GroupsContext): void {
  const write = [app.authenticate, requireScopes(['user:write']), requireAdminRole];
  app.put(
    `${base}/:groupId/members/:memberId`,
    {
      onRequest: write,
      config: { needsConfirmation: always },
      schema: {
        operationId: 'addGroupMember',
        tags,
        summary: 'Add a member or a service account to a group, if it is not in it',
        description: 'Repeating it changes nothing. An account is in at most 200 groups.',
        params: MemberPath,
        response: {
          200: Message,
          ...errorResponses(
            400,
            401,
            403,
            404,
            409,
            managedByProvider(),
            tooManyMemberships(200, 'Ada Lovelace'),
          ),
        },
      },
    },
    async (request) => {
      const { groupId, memberId } = request.params;
      await addGroupMembers(ctx, getCaller(request), groupId, [memberId]);
      return { message: 'Member added' };
    },
  );
  app.delete(
    `${base}/:groupId/members/:memberId`,
    {
      onRequest: write,
      config: { needsConfirmation: always },
      schema: {
        operationId: 'removeGroupMember',
        tags,
        summary: 'Remove a member or a service account from a group',
        description:
          'What the group allowed ends with the next request. An account that is not in the group is 404.',
        params: MemberPath,
        response: { 200: Message, ...errorResponses(400, 401, 403, 404, 409, managedByProvider()) },
      },
    },
    async (request) => {
      const { groupId, memberId } = request.params;
      if ((await removeGroupMembers(ctx, getCaller(request), groupId, [memberId])) === 0)
        throw memberNotFound();
      return { message: 'Member removed' };
    },
  );
}

/** Registers the groups of an organisation, and who is in them. */
export function registerGroups(app: App, ctx: GroupsContext): void {
  groupRoutes(app, ctx);
  memberRoutes(app, ctx);
  oneMemberRoutes(app, ctx);
}
