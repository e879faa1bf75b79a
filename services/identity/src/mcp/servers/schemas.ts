import { type Connector, connectors } from '@platform/events';
import { HTTP_URL_PATTERN, SECRET_HEADER_PATTERN } from '@platform/service-kit';
import { Type } from 'typebox';
import { GroupReference } from '../../members/members/schemas.js';
import { knowledgeScopes, type KnowledgeScope } from './gate.js';
import { type ClaimName, claimNames, type GroupValue, groupValues } from './person-claims.js';
import { type LeftOutReason, leftOutReasons } from './offered-tools.js';
import { SERVER_NAME_PATTERN } from '../../base/mounted-name.js';
import { upstreamFaultKinds, type UpstreamFaultKind } from '../../base/egress/faults.js';

export const Nullable = <T extends Parameters<typeof Type.Union>[0][number]>(schema: T) =>
  Type.Union([schema, Type.Null()]);
const Time = Type.String({ format: 'date-time' });
export const Id = Type.String({ format: 'uuid' });
export const Scope = Type.Unsafe<KnowledgeScope>({ type: 'string', enum: [...knowledgeScopes] });

const Name = Type.String({
  minLength: 1,
  maxLength: 32,
  pattern: SERVER_NAME_PATTERN,
  examples: ['wiki'],
  description:
    'The first part of the names of its tools, `<name>__<tool>`: small letters, digits, - and _, without `__`.',
});
const Url = Type.String({
  minLength: 1,
  maxLength: 2_048,
  description: 'Its endpoint for Streamable HTTP.',
  'x-documented': { pattern: HTTP_URL_PATTERN },
});
/** The largest response of a call that a mount can allow, and the default. */
export const MAX_ANSWER_BYTES = 4 * 1_048_576;
export const DEFAULT_ANSWER_BYTES = 1_048_576;
const AnswerBytes = Type.Integer({
  minimum: 65_536,
  maximum: MAX_ANSWER_BYTES,
  description: `The largest answer of a call, in bytes. By default ${DEFAULT_ANSWER_BYTES}.`,
});
const Rules = Type.Array(
  Type.Object(
    { pattern: Type.String({ minLength: 1, maxLength: 128 }), scope: Scope },
    { additionalProperties: false },
  ),
  {
    maxItems: 50,
    description:
      'The scope of tools by name, in which `*` stands for any characters. The first that matches decides.',
  },
);

const MAX_ALLOWED_GROUPS = 100;
/** The groups that a server or a tool is limited to, as administrators choose them. */
export const AllowedGroupIds = Nullable(
  Type.Array(Id, {
    maxItems: MAX_ALLOWED_GROUPS,
    description:
      'The groups of which a caller must be in one, by id. Null: everybody; an empty list: nobody.',
  }),
);
export const AllowedGroups = Nullable(
  Type.Array(GroupReference, { description: 'The groups that may use it. Null: everybody.' }),
);

const Claim = Type.Unsafe<ClaimName>({ type: 'string', enum: [...claimNames] });
const GroupValues = Type.Unsafe<GroupValue>({
  type: 'string',
  enum: [...groupValues],
  description:
    'Whether groups are named by their names (by default) or their external ids; groups without one are left out.',
});
/** A secret as it is sent in a header. */
export const SecretValue = Type.String({
  minLength: 1,
  maxLength: 4_096,
  pattern: '^[\\x21-\\x7e](?:[\\x20-\\x7e]*[\\x21-\\x7e])?$',
  description: 'Never returned.',
});
const SecretHeader = Type.Optional(
  Type.String({ pattern: SECRET_HEADER_PATTERN, description: 'By default `authorization`.' }),
);
const Credential = Type.Union(
  [
    Type.Object({ kind: Type.Literal('none') }, { additionalProperties: false }),
    Type.Object(
      {
        kind: Type.Literal('secret'),
        header: SecretHeader,
        value: {
          ...SecretValue,
          description: 'The whole value of the header, such as `Bearer …`. Never returned.',
        },
      },
      { additionalProperties: false },
    ),
    Type.Object(
      {
        kind: Type.Literal('assertion'),
        claims: Type.Optional(
          Type.Array(Claim, {
            maxItems: claimNames.length,
            description:
              'What the assertion says of the caller beside the id: the e-mail address, the groups. By default neither.',
          }),
        ),
        groupValues: Type.Optional(GroupValues),
      },
      { additionalProperties: false },
    ),
    Type.Object(
      {
        kind: Type.Literal('personal'),
        header: SecretHeader,
        prefix: Type.Optional(
          Type.String({
            maxLength: 32,
            pattern: '^[\\x21-\\x7e]*[\\x20-\\x7e]?$',
            description:
              'What stands before each secret in the header. By default `Bearer ` in `authorization`, and nothing in others.',
          }),
        ),
        hint: Type.Optional(
          Type.String({
            minLength: 1,
            maxLength: 500,
            description: 'Tells members where to get their secret.',
          }),
        ),
        link: Type.Optional(
          Type.String({
            maxLength: 2_048,
            pattern: '^https://[^\\s]+$',
            description: 'The page where members get their secret.',
          }),
        ),
        value: Type.Optional(
          Type.Union([SecretValue, Type.Null()], {
            description:
              'A secret with which the platform lists the tools; nobody calls with it. Without it, they are listed with the own credential of the administrator who last had them listed. Left out, the stored one is kept; null deletes it. Never returned.',
          }),
        ),
      },
      { additionalProperties: false },
    ),
    Type.Object(
      {
        kind: Type.Literal('oauth'),
        clientId: Type.Optional(
          Type.String({
            minLength: 1,
            maxLength: 2_048,
            pattern: '^[\\x21-\\x7e]+$',
            description:
              "The platform's client id at the authorization server of the server. By default it registers itself, or is known by its document.",
          }),
        ),
        clientSecret: Type.Optional(SecretValue),
        scope: Type.Optional(
          Type.String({
            minLength: 1,
            maxLength: 1_000,
            pattern: '^[\\x21\\x23-\\x5b\\x5d-\\x7e]+(?: [\\x21\\x23-\\x5b\\x5d-\\x7e]+)*$',
            description: 'The scopes to ask for. By default those that the server names.',
          }),
        ),
      },
      { additionalProperties: false },
    ),
  ],
  {
    description:
      'How the platform identifies itself: not at all, with a secret, with a signed assertion of who calls, with a secret that each account has of its own, or with the tokens of an account that members sign in with at the server.',
  },
);

const Connectors = Type.Array(Type.Unsafe<Connector>({ type: 'string', enum: [...connectors] }), {
  maxItems: connectors.length,
  description: 'The connectors that its answers come from: each result then says how old they are.',
});

export const CreateServerBody = Type.Object(
  {
    name: Name,
    url: Url,
    credential: Type.Optional(Credential),
    connectors: Type.Optional(Connectors),
    rules: Type.Optional(Rules),
    maxAnswerBytes: Type.Optional(AnswerBytes),
    isEnabled: Type.Optional(Type.Boolean()),
    allowedGroups: Type.Optional(AllowedGroupIds),
  },
  { additionalProperties: false },
);
export type CreateServerBody = Type.Static<typeof CreateServerBody>;

export const ChangeServerBody = Type.Partial(CreateServerBody, {
  minProperties: 1,
  additionalProperties: false,
});
export type ChangeServerBody = Type.Static<typeof ChangeServerBody>;

export const ServerPath = Type.Object({ id: Id });

const LeftOut = Type.Array(
  Type.Object({
    name: Nullable(Type.String({ description: 'Its beginning; null when the tool has none.' })),
    reason: Type.Unsafe<LeftOutReason>({ type: 'string', enum: [...leftOutReasons] }),
  }),
  { description: "The tools of its list that can't be used, at most 50. The others work." },
);
const Fault = Type.Unsafe<UpstreamFaultKind>({ type: 'string', enum: [...upstreamFaultKinds] });

export const Server = Type.Object(
  {
    id: Id,
    name: Type.String(),
    url: Type.String(),
    credential: Type.Object({
      kind: Type.String({ enum: ['none', 'secret', 'assertion', 'personal', 'oauth'] }),
      header: Nullable(Type.String({ description: 'Null unless a secret is sent.' })),
      prefix: Nullable(Type.String({ description: 'Null unless each account has a secret of its own.' })),
      hint: Nullable(Type.String()),
      link: Nullable(Type.String()),
      clientId: Nullable(
        Type.String({ description: 'Of `oauth`, as an administrator has given it; null: by registration.' }),
      ),
      scope: Nullable(Type.String()),
      hasListingSecret: Type.Boolean({
        description:
          'Whether the tools of `personal` are listed with a secret that an administrator has given for that.',
      }),
      claims: Type.Array(Claim, { description: 'What an assertion says of the caller beside the id.' }),
      groupValues: Nullable(GroupValues),
    }),
    connectors: Connectors,
    rules: Rules,
    maxAnswerBytes: Type.Integer(),
    isEnabled: Type.Boolean(),
    allowedGroups: AllowedGroups,
    createdAt: Time,
    refreshedAt: Nullable(Time),
    refreshFault: Nullable(Fault),
    protocolVersion: Nullable(Type.String()),
    leftOut: LeftOut,
    tools: Type.Object({
      offered: Type.Integer(),
      waiting: Type.Integer({ description: 'New and changed definitions that wait for approval.' }),
    }),
  },
  { title: 'McpServer' },
);
export type Server = Type.Static<typeof Server>;
export const ServerResponse = Type.Object({ server: Server });

export const cursorQuery = (cursor: ReturnType<typeof Type.String>) =>
  Type.Object(
    {
      limit: Type.Integer({ minimum: 1, maximum: 100, default: 20 }),
      cursor: Type.Optional(cursor),
    },
    { additionalProperties: false },
  );
export const ServerQuery = cursorQuery(
  Type.String({ format: 'uuid', description: '`nextCursor` of the page before.' }),
);
export type ServerQuery = Type.Static<typeof ServerQuery>;
export const ServerPage = Type.Object({ data: Type.Array(Server), nextCursor: Nullable(Id) });
export type ServerPage = Type.Static<typeof ServerPage>;

export const Refreshed = Type.Object({
  server: Server,
  changes: Type.Object({
    new: Type.Integer(),
    changed: Type.Integer(),
    withdrawn: Type.Integer(),
  }),
});
export type Refreshed = Type.Static<typeof Refreshed>;

export const TestedServer = Type.Object({
  isUsable: Type.Boolean(),
  fault: Nullable(Fault),
  code: Nullable(Type.Integer({ description: 'The HTTP status or JSON-RPC code of the fault.' })),
  protocolVersion: Nullable(Type.String()),
  tools: Nullable(Type.Integer()),
  leftOut: LeftOut,
  durationMs: Type.Integer(),
});
export type TestedServer = Type.Static<typeof TestedServer>;
