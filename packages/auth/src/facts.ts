import { Type } from 'typebox';

/*
 * What the other services hand to identity because it happened there: entries of the audit, and crawls that keep failing.
 * A fact is handed over at least once, under an id of its own.
 */

/** The scope that a service credential needs to hand over facts. */
export const FACTS_SCOPE = 'facts:write';

/** Gateways do not route it. */
export const FACTS_PATH = '/api/v1/internal/facts';

/** The largest number of facts in one request. */
export const MAX_FACTS = 100;

/** Longer user agents are truncated. */
export const MAX_AUDITED_AGENT_LENGTH = 512;
/** Longer values of an audit entry's detail are truncated. */
export const MAX_AUDITED_VALUE_LENGTH = 300;

const Uuid = Type.String({ format: 'uuid' });
const OrNull = <T extends Type.TSchema>(type: T) => Type.Union([type, Type.Null()]);
const strict = { additionalProperties: false };

const toFact = <N extends string, T extends Type.TSchema>(type: N, data: T) =>
  Type.Object(
    {
      id: Uuid,
      orgId: Uuid,
      type: Type.Literal(type),
      at: Type.String({ format: 'date-time' }),
      data,
    },
    strict,
  );

const AuditData = Type.Object(
  {
    action: Type.String({ pattern: '^crawl_[a-z_]+\\.[a-z_]+$', maxLength: 64 }),
    actorId: Uuid,
    credential: Type.Object({ kind: Type.String({ maxLength: 20 }), id: Uuid }, strict),
    address: Type.String({ maxLength: 64 }),
    userAgent: OrNull(Type.String({ maxLength: MAX_AUDITED_AGENT_LENGTH })),
    subjectId: OrNull(Uuid),
    detail: Type.Record(Type.String(), OrNull(Type.String({ maxLength: MAX_AUDITED_VALUE_LENGTH }))),
  },
  strict,
);

const CrawlData = Type.Object(
  {
    connector: Type.String({ maxLength: 50 }),
    instance: Type.String({ maxLength: 50 }),
    name: Type.String({ minLength: 1, maxLength: 300, description: 'What people call it.' }),
    failures: Type.Integer({ minimum: 0, description: 'How many runs in a row have failed.' }),
    reason: OrNull(Type.String({ maxLength: 2_000 })),
  },
  strict,
);

const Fact = Type.Union([
  toFact('audit.entry', AuditData),
  toFact('crawl.failing', CrawlData),
  toFact('crawl.recovered', CrawlData),
]);
export type Fact = Type.Static<typeof Fact>;

export const Facts = Type.Object({ facts: Type.Array(Fact, { minItems: 1, maxItems: MAX_FACTS }) }, strict);
