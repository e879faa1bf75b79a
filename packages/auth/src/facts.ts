import { Type } from 'typebox';

/*
 * What the other services hand to identity because it happened there: entries of the audit, the ends of runs and mails, and
 * crawls that keep failing. A fact is handed over at least once, under an id of its own.
 */

/** The scopes with which service credentials hand over facts: those of the crawl service, and those of the mail service. */
export const CRAWL_FACTS_SCOPE = 'facts:crawl';
export const MAIL_FACTS_SCOPE = 'facts:mail';

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

const Time = Type.String({ format: 'date-time' });

const RunData = Type.Object(
  {
    runId: Uuid,
    connector: Type.String({ maxLength: 50 }),
    instance: Type.String({ maxLength: 50 }),
    trigger: Type.String({ maxLength: 20 }),
    worker: Type.String({
      maxLength: 20,
      description: 'Who crawls. `event`: the run only published its event.',
    }),
    mode: Type.String({ maxLength: 20 }),
    scheduledFor: Time,
    startedAt: OrNull(Time),
    attempts: Type.Integer({ minimum: 0 }),
    counters: Type.Record(Type.String(), Type.Integer()),
    reason: OrNull(Type.String({ maxLength: 2_000 })),
  },
  strict,
);

const MailData = Type.Object(
  {
    mailId: Uuid,
    emailTemplateType: Type.String({ maxLength: 50 }),
    recipients: Type.Integer({ minimum: 0, description: 'How many the mail has.' }),
    attempts: Type.Integer({ minimum: 0 }),
    problem: OrNull(
      Type.Record(Type.String(), Type.Union([Type.String({ maxLength: 300 }), Type.Number()]), {
        description: 'Codes of the last problem; never the text of a server.',
      }),
    ),
    reference: Type.Optional(
      Type.String({
        maxLength: 255,
        description: 'The idempotency key of a mail of identity. It is not published.',
      }),
    ),
  },
  strict,
);

const SuppressionData = Type.Object(
  {
    suppressionId: Uuid,
    reason: Type.String({ maxLength: 20 }),
    status: OrNull(Type.String({ maxLength: 20 })),
  },
  strict,
);

const Fact = Type.Union([
  toFact('audit.entry', AuditData),
  toFact('crawl.failing', CrawlData),
  toFact('crawl.recovered', CrawlData),
  toFact('crawl.run.completed', RunData),
  toFact('crawl.run.failed', RunData),
  toFact('crawl.run.skipped', RunData),
  toFact('mail.sent', MailData),
  toFact('mail.failed', MailData),
  toFact('mail.unknown', MailData),
  toFact('mail.suppressed', SuppressionData),
]);
export type Fact = Type.Static<typeof Fact>;

export const Facts = Type.Object({ facts: Type.Array(Fact, { minItems: 1, maxItems: MAX_FACTS }) }, strict);
