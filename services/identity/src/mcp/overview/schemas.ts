import { Type } from 'typebox';
import { AllowedGroups, Id, Nullable } from '../servers/schemas.js';
import { MountedTool } from '../servers/tool.schemas.js';

const Time = Type.String({ format: 'date-time' });
const Count = Type.Integer({ minimum: 0 });
const counts = {
  calls: Count,
  failures: Type.Integer({ minimum: 0, description: 'Calls that were denied, refused or failed.' }),
};

/** How far back calls are counted. */
export const COUNTED_DAYS = 7;

const OrganisationTool = Type.Object(
  {
    name: Type.String({ description: 'As agents list it.' }),
    title: Nullable(Type.String()),
    description: Nullable(
      Type.String({ description: 'The first 200 characters of what it says of itself.' }),
    ),
    server: Nullable(
      Type.Object({
        id: Id,
        name: Type.String(),
        isEnabled: Type.Boolean(),
        allowedGroups: AllowedGroups,
      }),
    ),
    mounted: Nullable(MountedTool),
    scopes: Type.Array(Type.String(), {
      description: 'What a token needs to call it; empty for a tool that nobody can call.',
    }),
    isAdminOnly: Type.Boolean(),
    annotations: Type.Record(Type.String(), Type.Unknown()),
    ...counts,
  },
  { title: 'OrganisationTool', description: `With its calls of the last ${COUNTED_DAYS} days.` },
);
export type OrganisationTool = Type.Static<typeof OrganisationTool>;

export const ToolListQuery = Type.Object(
  {
    limit: Type.Integer({ minimum: 1, maximum: 100, default: 50 }),
    cursor: Type.Optional(
      Type.String({ minLength: 1, maxLength: 200, description: '`nextCursor` of the page before.' }),
    ),
    q: Type.Optional(Type.String({ minLength: 1, maxLength: 100, description: 'A part of the name.' })),
    isWaiting: Type.Optional(Type.Literal('true', { description: 'Only tools that wait for an approval.' })),
  },
  { additionalProperties: false },
);
export type ToolListQuery = Type.Static<typeof ToolListQuery>;
export const ToolList = Type.Object({
  data: Type.Array(OrganisationTool),
  nextCursor: Nullable(Type.String()),
});
export type ToolList = Type.Static<typeof ToolList>;

export const ToolUsage = Type.Object(
  {
    since: Time,
    ...counts,
    recent: Type.Object(
      {
        calls: Count,
        since: Nullable(Time),
        p50Ms: Nullable(Count),
        p95Ms: Nullable(Count),
        outcomes: Type.Array(Type.Object({ outcome: Type.String(), calls: Count })),
        callers: Type.Array(
          Type.Object({
            id: Id,
            kind: Nullable(Type.String()),
            name: Nullable(Type.String({ description: 'Null for an account that no longer exists.' })),
            calls: Count,
            lastAt: Time,
          }),
          { description: 'Those with the most calls, at most 20.' },
        ),
      },
      { description: 'The newest calls, at most about 1,000.' },
    ),
  },
  { title: 'ToolUsage' },
);
export type ToolUsage = Type.Static<typeof ToolUsage>;

export const CallsQuery = Type.Object(
  {
    from: Type.String({
      format: 'date-time',
      description: `At most ${COUNTED_DAYS} days ago; earlier ones are read as that.`,
    }),
    today: Type.String({ format: 'date-time', description: 'When the day of the caller began.' }),
  },
  { additionalProperties: false },
);
export type CallsQuery = Type.Static<typeof CallsQuery>;

export const CallCounts = Type.Object(
  {
    agents: Type.Object(
      { agents: Count, ...counts, isMinimum: Type.Boolean() },
      {
        description:
          'The agents that have called since `today` and their calls, without those of the console. `isMinimum`: there are more.',
      },
    ),
    hours: Type.Array(Type.Object({ hour: Time, ...counts }), {
      description: 'The hours since `from` in which there were calls, in order.',
    }),
  },
  { title: 'CallCounts' },
);
export type CallCounts = Type.Static<typeof CallCounts>;
