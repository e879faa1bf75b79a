import { searchBy } from '@platform/service-kit';
import { Type } from 'typebox';
import { GroupReference } from '../members/members/schemas.js';

/** Where a group comes from: administrators, or the claims of the organisation's identity provider. */
export const groupSources = ['manual', 'provider'] as const;
export type GroupSource = (typeof groupSources)[number];

const Id = Type.String({ format: 'uuid' });
const Instant = Type.String({ format: 'date-time' });
const Nullable = <T extends Parameters<typeof Type.Union>[0][number]>(schema: T, description: string) =>
  Type.Union([schema, Type.Null()], { description });

const GroupName = Type.String({
  minLength: 1,
  maxLength: 200,
  format: 'display-name',
  description: 'Unique among the groups of its source, in any case.',
});
const ExternalId = Type.String({ minLength: 1, maxLength: 255, pattern: '^[^\\x00-\\x1f\\x7f]+$' });

export const Group = Type.Object(
  {
    ...GroupReference.properties,
    externalId: Nullable(
      Type.String(),
      'What another directory calls it; of a group of the provider, the value of the claim.',
    ),
    memberCount: Type.Integer(),
    createdAt: Instant,
  },
  { title: 'Group' },
);
export type Group = Type.Static<typeof Group>;
export const GroupResponse = Type.Object({ group: Group });

export const GroupUse = Type.Object(
  {
    serverId: Id,
    server: Type.String(),
    tool: Nullable(Type.String(), 'As the tool endpoint lists it; null for all tools of the server.'),
    isOnly: Type.Boolean({ description: 'Whether nobody could use it any more without the group.' }),
  },
  { title: 'GroupUse' },
);
export type GroupUse = Type.Static<typeof GroupUse>;

export const GroupQuery = searchBy('Part of the name or of the external id, in any case.');
export type GroupQuery = Type.Static<typeof GroupQuery>;

export const CreateGroupBody = Type.Object(
  { name: GroupName, externalId: Type.Optional(ExternalId) },
  { additionalProperties: false },
);
export type CreateGroupBody = Type.Static<typeof CreateGroupBody>;

export const ChangeGroupBody = Type.Object(
  {
    name: Type.Optional(GroupName),
    externalId: Type.Optional(Nullable(ExternalId, 'Null: none.')),
  },
  { additionalProperties: false, minProperties: 1 },
);
export type ChangeGroupBody = Type.Static<typeof ChangeGroupBody>;

export const GroupPath = Type.Object({ groupId: Id });

export const RemoveGroupQuery = Type.Object(
  {
    force: Type.Optional(
      Type.Boolean({ description: 'Also when nobody can use a server or tool any more without the group.' }),
    ),
  },
  { additionalProperties: false },
);
export type RemoveGroupQuery = Type.Static<typeof RemoveGroupQuery>;

export const GroupMember = Type.Object(
  {
    id: Id,
    kind: Type.String({ description: '`member` or `service_account`.' }),
    name: Type.String(),
    email: Nullable(Type.String(), 'Null for a service account.'),
    addedAt: Instant,
  },
  { title: 'GroupMember' },
);
export type GroupMember = Type.Static<typeof GroupMember>;

export const MemberQuery = searchBy('Part of the name or of the e-mail address, in any case.');
export type MemberQuery = Type.Static<typeof MemberQuery>;
export const MemberPath = Type.Object({ groupId: Id, memberId: Id });

/** The number of members that one request adds or removes. */
const MAX_MEMBERS = 1_000;
export const MembersBody = Type.Object(
  {
    members: Type.Array(Id, {
      minItems: 1,
      maxItems: MAX_MEMBERS,
      description: 'Ids of members and of service accounts.',
    }),
  },
  { additionalProperties: false },
);
export const MembersChanged = Type.Object({
  message: Type.String(),
  changedCount: Type.Integer({ description: 'How many were not in the group before, or are not any more.' }),
});
