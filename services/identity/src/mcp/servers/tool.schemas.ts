import { Type } from 'typebox';
import { definitionFlags, type DefinitionFlag } from './flags.js';
import { knowledgeScopes, type KnowledgeScope } from './gate.js';
import { AllowedGroupIds, AllowedGroups, Nullable, Id, Scope, cursorQuery } from './schemas.js';

/**
 * `new` and `changed` definitions wait for approval; `approved` is in effect if it has a scope; `withdrawn` is no longer
 * offered by the server.
 */
export const toolStates = ['new', 'changed', 'approved', 'withdrawn'] as const;
export type ToolState = (typeof toolStates)[number];

const toolFields = {
  name: Type.String({ description: "The server's own name of the tool." }),
  mountedName: Type.String({
    description:
      'The name for clients: `<server>__<tool>`; where they would reject that, with a suffix that depends on the name of the tool.',
  }),
  state: Type.Unsafe<ToolState>({ type: 'string', enum: [...toolStates] }),
  isInEffect: Type.Boolean({ description: 'Whether callers with the scope see it and can call it.' }),
  scope: Nullable(
    Type.String({ enum: [...knowledgeScopes, 'none'], description: 'Its own mapping; null: by the rules.' }),
  ),
  effectiveScope: Nullable(Scope),
  allowedGroups: AllowedGroups,
  hash: Nullable(Type.String({ description: 'Of the offered definition: names it when it is approved.' })),
  flags: Type.Array(Type.Unsafe<DefinitionFlag>({ type: 'string', enum: [...definitionFlags] })),
  hints: Type.Record(Type.String(), Type.Unknown(), {
    description: 'What the server says of the tool (MCP annotations). It decides nothing.',
  }),
};
export const MountedTool = Type.Object(toolFields, { title: 'McpTool' });
export type MountedTool = Type.Static<typeof MountedTool>;

export const ToolQuery = cursorQuery(
  Type.String({ minLength: 1, maxLength: 128, description: '`nextCursor` of the page before.' }),
);
export type ToolQuery = Type.Static<typeof ToolQuery>;
export const ToolPage = Type.Object({ data: Type.Array(MountedTool), nextCursor: Nullable(Type.String()) });
export type ToolPage = Type.Static<typeof ToolPage>;

export const ToolPath = Type.Object({ id: Id, tool: Type.String({ minLength: 1, maxLength: 128 }) });
const Definition = Nullable(Type.Record(Type.String(), Type.Unknown()));
export const ToolDetail = Type.Object(
  {
    ...toolFields,
    offered: Definition,
    approved: Definition,
    differences: Type.Array(
      Type.Object({
        path: Type.String({ description: 'A JSON Pointer (RFC 6901).' }),
        from: Nullable(Type.String({ description: 'As JSON.' })),
        to: Nullable(Type.String({ description: 'As JSON.' })),
      }),
    ),
  },
  { title: 'McpToolDetail' },
);
export type ToolDetail = Type.Static<typeof ToolDetail>;

export const DecideBody = Type.Object(
  {
    tools: Type.Array(
      Type.Object(
        {
          name: Type.String({ minLength: 1, maxLength: 128 }),
          scope: Type.Optional(
            Nullable(
              Type.Unsafe<KnowledgeScope | 'none'>({ type: 'string', enum: [...knowledgeScopes, 'none'] }),
            ),
          ),
          allowedGroups: Type.Optional(AllowedGroupIds),
          approve: Type.Optional(
            Type.String({
              minLength: 43,
              maxLength: 43,
              description: '`hash` of the definition that is approved.',
            }),
          ),
        },
        { additionalProperties: false },
      ),
      { minItems: 1, maxItems: 200 },
    ),
  },
  { additionalProperties: false },
);
export type DecideBody = Type.Static<typeof DecideBody>;
export const Decided = Type.Object({ tools: Type.Array(MountedTool) });
