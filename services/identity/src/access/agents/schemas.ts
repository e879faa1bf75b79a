import { Type } from 'typebox';
import { NamedBounds } from '../../credentials/bounds/bounds.js';

const Id = Type.String({ format: 'uuid' });
const Instant = Type.String({ format: 'date-time' });
const NullableInstant = Type.Union([Instant, Type.Null()]);
const NullableText = (description: string) => Type.Union([Type.String(), Type.Null()], { description });

export const agentKinds = ['token', 'connection', 'service_account'] as const;
export type AgentKind = (typeof agentKinds)[number];

export const AgentPath = Type.Object({ kind: Type.Enum([...agentKinds]), id: Id });
export type AgentPath = Type.Static<typeof AgentPath>;

const Refusal = Type.Object(
  {
    via: Type.String({ description: '`mcp`, or `rest` for a request.' }),
    tool: Type.String({ description: 'The tool; of a request, its method and route.' }),
    reason: Type.String({ description: 'As in `ToolCall`.' }),
    lacks: Type.Array(Type.String(), { description: 'The scopes that it would have needed beside its own.' }),
    count: Type.Integer({ description: 'How often, among its 1,000 latest calls.' }),
    lastAt: Instant,
  },
  { title: 'AgentRefusal' },
);

const RelatedToken = Type.Object({ id: Id, name: Type.String(), state: Type.String() });

export const Agent = Type.Object(
  {
    kind: Type.Enum([...agentKinds]),
    id: Id,
    name: Type.String({
      description: 'Of a token or a service account its own; of a connection, the application.',
    }),
    state: Type.String({
      description: '`active`, `expired`, `revoked`, or `inactive` for what else refuses it.',
    }),
    isOwn: Type.Boolean({ description: 'Whether it acts for the caller.' }),
    actsFor: Type.Object({
      id: Id,
      isServiceAccount: Type.Boolean(),
      name: Type.String(),
      email: NullableText('Null for a service account.'),
      role: Type.String(),
      isRemoved: Type.Boolean(),
    }),
    client: Type.Union(
      [
        Type.Object({
          id: Type.String(),
          kind: Type.String({ description: '`application`, `document` or `registered`.' }),
          host: NullableText('The host of the client id, which is verified; null without one.'),
        }),
        Type.Null(),
      ],
      { description: 'The application; null for what is none.' },
    ),
    scopes: Type.Array(Type.String(), { description: 'What it was granted; none of a service account.' }),
    bounds: Type.Union([NamedBounds, Type.Null()]),
    allowList: Type.Array(Type.String(), {
      description: 'The CIDR ranges that a token may be used from. Empty: any address.',
    }),
    tools: Type.Array(Type.String(), {
      description:
        'The remote tools that it can call now, by name; of a service account, that its tokens can be given.',
    }),
    createdAt: Instant,
    expiresAt: NullableInstant,
    firstCallAt: Type.Union([Instant, Type.Null()], {
      description: 'The first call that is still recorded.',
    }),
    lastUsedAt: NullableInstant,
    lastAddress: NullableText('Where it was last used from.'),
    lastClient: NullableText('The program that last used it, by its own account.'),
    parent: Type.Union([RelatedToken, Type.Null()], {
      description: 'The token that created it, and that it is revoked with.',
    }),
    replacedBy: Type.Union([RelatedToken, Type.Null()]),
    created: Type.Array(RelatedToken, {
      description: 'The tokens that it created and that live, at most the 20 newest.',
    }),
    refusals: Type.Array(Refusal, { description: 'What was refused to it, summed up, the latest first.' }),
  },
  { title: 'Agent' },
);
export type Agent = Type.Static<typeof Agent>;
