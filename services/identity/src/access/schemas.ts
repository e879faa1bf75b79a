import { Type } from 'typebox';

/* The messages of the OpenID AuthZEN Authorization API 1.0. Members that nothing here depends on are accepted and ignored. */

export const subjectTypes = ['user', 'service_account', 'token', 'connection'] as const;
export type SubjectType = (typeof subjectTypes)[number];
export const resourceTypes = ['tool', 'server', 'connector'] as const;
export type ResourceType = (typeof resourceTypes)[number];

const Name = Type.String({ minLength: 1, maxLength: 200 });
const Properties = Type.Optional(Type.Record(Type.String(), Type.Unknown()));

const subjectProperties = {
  type: Type.String({ minLength: 1, maxLength: 200, description: `One of ${subjectTypes.join(', ')}.` }),
  properties: Properties,
};
export const Subject = Type.Object({
  ...subjectProperties,
  id: Type.String({ minLength: 1, maxLength: 200, description: 'The id that the API of its kind shows.' }),
});
export type Subject = Type.Static<typeof Subject>;

const resourceProperties = {
  type: Type.String({ minLength: 1, maxLength: 200, description: `One of ${resourceTypes.join(', ')}.` }),
  properties: Properties,
};
const Resource = Type.Object({
  ...resourceProperties,
  id: Type.String({
    minLength: 1,
    maxLength: 200,
    description:
      'The name of the tool as the tool endpoint lists it, of the mounted server, or of the connector.',
  }),
});

const Action = Type.Object({
  name: Type.String({ minLength: 1, maxLength: 200, description: 'A scope, such as `kb:read`.' }),
  properties: Properties,
});

export const Evaluation = Type.Object({
  subject: Subject,
  action: Action,
  resource: Resource,
  context: Properties,
});
export type Evaluation = Type.Static<typeof Evaluation>;

export const reasons = [
  'permitted',
  'incomplete',
  'unknown_subject',
  'unknown_resource',
  'unknown_action',
  'inactive',
  'bound',
  'group',
  'role',
  'scope',
  'policy',
  'session',
  'audience',
] as const;
export type Reason = (typeof reasons)[number];

export const Decision = Type.Object(
  {
    decision: Type.Boolean(),
    context: Type.Object({
      reason: Type.Unsafe<Reason>({ type: 'string', enum: [...reasons] }),
      message: Type.String(),
    }),
  },
  { title: 'AccessDecision' },
);
export type Decision = Type.Static<typeof Decision>;

/** As many as one request may ask. */
const MAX_EVALUATIONS = 1_000;
const semantics = ['execute_all', 'deny_on_first_deny', 'permit_on_first_permit'] as const;
export type Semantic = (typeof semantics)[number];

export const Evaluations = Type.Object({
  ...Type.Partial(Evaluation).properties,
  evaluations: Type.Optional(Type.Array(Type.Partial(Evaluation), { maxItems: MAX_EVALUATIONS })),
  options: Type.Optional(
    Type.Object({
      evaluations_semantic: Type.Optional(Type.Unsafe<Semantic>({ type: 'string', enum: [...semantics] })),
    }),
  ),
});
export type Evaluations = Type.Static<typeof Evaluations>;
/** A decision, where there are no evaluations. */
export const Decisions = Type.Object(
  { ...Type.Partial(Decision).properties, evaluations: Type.Optional(Type.Array(Decision)) },
  { title: 'AccessDecisions' },
);
export type Decisions = Type.Static<typeof Decisions>;

const DEFAULT_LIMIT = 100;
const PageRequest = Type.Optional(
  Type.Object({
    token: Type.Optional(
      Type.String({
        maxLength: 400,
        description: 'The `next_token` of the page before; empty for the first.',
      }),
    ),
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 1_000, default: DEFAULT_LIMIT })),
  }),
);
export type PageRequest = Type.Static<typeof PageRequest>;

const search = { context: Properties, page: PageRequest };
export const SubjectSearch = Type.Object({
  subject: Type.Object({ ...subjectProperties, id: Type.Optional(Name) }),
  action: Action,
  resource: Resource,
  ...search,
});
export type SubjectSearch = Type.Static<typeof SubjectSearch>;
export const ResourceSearch = Type.Object({
  subject: Subject,
  action: Action,
  resource: Type.Object({ ...resourceProperties, id: Type.Optional(Name) }),
  ...search,
});
export type ResourceSearch = Type.Static<typeof ResourceSearch>;
export const ActionSearch = Type.Object({ subject: Subject, resource: Resource, ...search });
export type ActionSearch = Type.Static<typeof ActionSearch>;

const Found = <T extends Type.TSchema>(item: T, title: string) =>
  Type.Object(
    {
      results: Type.Array(item),
      page: Type.Object({
        next_token: Type.String({ description: 'Empty: there is no more. A page can be short, or empty.' }),
        count: Type.Integer(),
      }),
    },
    { title },
  );
const Entity = Type.Object({ type: Type.String(), id: Type.String() });
export const FoundEntities = Found(Entity, 'FoundEntities');
export type FoundEntities = Type.Static<typeof FoundEntities>;
export const FoundActions = Found(Type.Object({ name: Type.String() }), 'FoundActions');
export type FoundActions = Type.Static<typeof FoundActions>;

export const Configuration = Type.Object(
  {
    policy_decision_point: Type.String(),
    access_evaluation_endpoint: Type.String(),
    access_evaluations_endpoint: Type.String(),
    search_subject_endpoint: Type.String(),
    search_resource_endpoint: Type.String(),
    search_action_endpoint: Type.String(),
  },
  { title: 'AuthZenConfiguration' },
);
