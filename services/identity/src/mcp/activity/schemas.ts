import { refusalReasons } from '@platform/auth';
import { Type } from 'typebox';

/**
 * The outcome of a tool call: `completed`; `denied` to the credential or by the tool filter; `invalid_arguments`;
 * `refused` by the REST endpoint behind the tool; `failed` by an internal error or an outage; `cancelled` by the client.
 */
export const toolCallOutcomes = [
  'completed',
  'denied',
  'invalid_arguments',
  'refused',
  'failed',
  'cancelled',
] as const;
export type ToolCallOutcome = (typeof toolCallOutcomes)[number];

export const ActivityQuery = Type.Object(
  {
    limit: Type.Integer({ minimum: 1, maximum: 100, default: 20 }),
    cursor: Type.Optional(Type.String({ format: 'uuid', description: '`nextCursor` of the page before.' })),
  },
  { additionalProperties: false },
);
export type ActivityQuery = Type.Static<typeof ActivityQuery>;

const Nullable = (description: string) => Type.Union([Type.String(), Type.Null()], { description });

export const ToolCallEntry = Type.Object(
  {
    id: Type.String({ format: 'uuid' }),
    userId: Type.String({ format: 'uuid', description: 'Who the call acted as.' }),
    via: Type.String({ description: '`mcp`, or `rest` for a request that was refused.' }),
    tool: Type.String({ description: 'The tool; of a refused request, its method and route.' }),
    outcome: Type.String({ description: `One of ${toolCallOutcomes.join(', ')}.` }),
    reason: Nullable(
      `Why it was refused: one of ${refusalReasons.join(', ')}. Null where it was not, or the tool itself refused.`,
    ),
    lacks: Type.Array(Type.String(), { description: 'The scopes that it would have needed beside its own.' }),
    durationMs: Type.Integer(),
    requestId: Type.String({ description: '`x-request-id` of the answer, and of the log lines.' }),
    address: Nullable('Where the request came from.'),
    client: Nullable('What the client said it is.'),
    credential: Type.Object({
      kind: Type.String({ description: '`pat`, `oauth` or `session`.' }),
      id: Type.String({ format: 'uuid' }),
    }),
    clientId: Nullable('The OAuth client that it came through.'),
    createdAt: Type.String({ format: 'date-time' }),
  },
  { title: 'ToolCall' },
);
export type ToolCallEntry = Type.Static<typeof ToolCallEntry>;

export const ActivityResponse = Type.Object({
  data: Type.Array(ToolCallEntry),
  nextCursor: Type.Union([Type.String({ format: 'uuid' }), Type.Null()], {
    description: 'Null: there are no more.',
  }),
});
export type ActivityResponse = Type.Static<typeof ActivityResponse>;
