import { type AccountPrincipal, roles } from '@platform/auth';
import { SearchQuery } from '@platform/service-kit';
import { Type } from 'typebox';

const Role = Type.Enum([...roles], { description: '`admin` or `member`.' });

export const User = Type.Object(
  {
    id: Type.String({ format: 'uuid' }),
    orgId: Type.String({ format: 'uuid' }),
    email: Type.String(),
    fullName: Type.String(),
    role: Type.String({ description: '`admin` or `member`.' }),
  },
  { title: 'User' },
);
export type User = Type.Static<typeof User>;

export const MemberQuery = Type.Object(
  {
    ...SearchQuery.properties,
    q: Type.Optional(
      Type.Unsafe<string>({
        ...SearchQuery.properties.q,
        description: 'Part of the name or the e-mail address, in any case.',
      }),
    ),
    state: Type.Optional(
      Type.Enum(['joined', 'invited', 'stalled'], {
        description:
          '`invited`: the invitation was not accepted yet; `stalled`: nor will it be without help, because its mail failed, or it lapses within two days.',
      }),
    ),
    role: Type.Optional(Role),
    sort: Type.Optional(Type.Enum(['newest', 'name'], { description: 'Default: newest first.' })),
  },
  { additionalProperties: false },
);
export type MemberQuery = Type.Static<typeof MemberQuery>;

/** A member as the administrators' list shows them. */
export const Member = Type.Object(
  {
    ...User.properties,
    invitation: Type.Union(
      [
        Type.Object({
          state: Type.String({
            description:
              '`pending`; `undeliverable`: its mail was refused, or could not be sent before it expired; `unknown`: it may have arrived, and is not sent again.',
          }),
          reason: Type.Optional(Type.String({ description: 'Why it is undeliverable or unknown.' })),
        }),
        Type.Null(),
      ],
      { description: 'Null when the member has accepted, or never needed one.' },
    ),
    secondFactors: Type.Array(Type.Union([Type.Literal('totp'), Type.Literal('passkey')]), {
      description: 'The kinds of second factor that the member has.',
    }),
    hasProviderIdentity: Type.Optional(
      Type.Boolean({
        description: "Whether the account is connected with an identity at the organisation's provider.",
      }),
    ),
  },
  { title: 'Member' },
);
export type Member = Type.Static<typeof Member>;

export const UserResponse = Type.Object({ user: User });

/** A group as others refer to it. */
export const GroupReference = Type.Object(
  {
    id: Type.String({ format: 'uuid' }),
    name: Type.String(),
    source: Type.String({
      description:
        '`manual`: administrators choose its members; `provider`: the identity provider does. A group of each can have the same name.',
    }),
  },
  { title: 'GroupReference' },
);
export type GroupReference = Type.Static<typeof GroupReference>;

/** A member as the page of one shows them. */
export const MemberDetails = Type.Object(
  {
    ...Member.properties,
    groups: Type.Array(GroupReference, { description: 'The groups that the member is in, by name.' }),
    lastSeenAt: Type.Union([Type.String({ format: 'date-time' }), Type.Null()], {
      description: 'When the member last signed in, or something last acted for them; null for never.',
    }),
  },
  { title: 'MemberDetails' },
);
export type MemberDetails = Type.Static<typeof MemberDetails>;

/** The caller: a person, or a service account. */
export const callerFields = {
  user: Type.Union([User, Type.Null()], {
    description: 'Null for a service account, which is not a person.',
  }),
  serviceAccount: Type.Optional(
    Type.Object(
      {
        id: Type.String({ format: 'uuid' }),
        orgId: Type.String({ format: 'uuid' }),
        name: Type.String(),
        role: Type.String(),
      },
      {
        description: 'The service account that the credential acts as; absent for a person.',
      },
    ),
  ),
  groups: Type.Array(GroupReference, { description: 'The groups that the caller is in, by name.' }),
};
export const CallerResponse = Type.Object(callerFields);
export type CallerResponse = Type.Static<typeof CallerResponse>;

export const toCallerFields = (principal: AccountPrincipal): CallerResponse => {
  const { userId: id, orgId, email, fullName, role } = principal;
  const groups = [...(principal.groups ?? [])];
  return principal.isServiceAccount
    ? { user: null, serviceAccount: { id, orgId, name: fullName, role }, groups }
    : { user: { id, orgId, email, fullName, role }, groups };
};

const Email = Type.String({ format: 'email', maxLength: 254 });
export const FullName = Type.String({
  minLength: 1,
  maxLength: 200,
  format: 'display-name',
  description: 'With a visible character, without control and bidirectional ones.',
});
/** The bounds resist guessing, and attacks by hashing very long passwords (NIST SP 800-63B §3.1.1.2). */
export const Password = Type.String({ minLength: 8, maxLength: 256 });

export const CreateUserBody = Type.Object(
  { email: Email, fullName: FullName, role: Type.Optional(Role), password: Type.Optional(Password) },
  { additionalProperties: false },
);
export type CreateUserBody = Type.Static<typeof CreateUserBody>;

export const ChangeUserBody = Type.Object(
  { fullName: Type.Optional(FullName), role: Type.Optional(Role) },
  { additionalProperties: false, minProperties: 1 },
);
export type ChangeUserBody = Type.Static<typeof ChangeUserBody>;

export const ChangeMeBody = Type.Object({ fullName: FullName }, { additionalProperties: false });

export const RemoveUserQuery = Type.Object(
  {
    state: Type.Optional(
      Type.Enum(['invited'], {
        description:
          '`invited` withdraws an invitation: it is 409 `INVITATION_ACCEPTED` when the member has joined meanwhile.',
      }),
    ),
  },
  { additionalProperties: false },
);
export type RemoveUserQuery = Type.Static<typeof RemoveUserQuery>;
