import { Type } from 'typebox';
import { type FactEvent, type FactType, factTypes, isAuditType } from './event.js';

/*
 * The content of a fact of each type: the contract for consumers, and what the other services may report to identity.
 */

/** Longer user agents are truncated. */
export const MAX_AUDITED_AGENT_LENGTH = 512;
/** Longer values of an audit entry's detail are truncated. */
export const MAX_AUDITED_VALUE_LENGTH = 300;
/** The action of an entry that an operator's command causes. */
export const OPERATOR_ACTION = 'operator.command_run';

const Uuid = Type.String({ format: 'uuid' });
const Time = Type.String({ format: 'date-time' });
const OrNull = <T extends Type.TSchema>(type: T) => Type.Union([type, Type.Null()]);
const Nullable = (description: string) => Type.Union([Type.String(), Type.Null()], { description });
const Reason = OrNull(Type.String({ maxLength: 2_000 }));
const strict = { additionalProperties: false };
/** Consumers must accept unknown fields, so that the contract can grow. */
const open = { additionalProperties: true };

const ChangedValue = Type.Union([Type.String(), Type.Number(), Type.Null()]);

/** An entry of the audit, which is also the data of its fact. */
export const AuditEntry = Type.Object(
  {
    id: Uuid,
    action: Type.String({ description: 'What happened, such as `token.revoked`.' }),
    actorId: Nullable('The member who did it; null for the platform, and for a sign-in that failed.'),
    credential: Type.Union([Type.Object({ kind: Type.String(), id: Type.String() }), Type.Null()], {
      description: 'The session (`session`) or token (`pat`) it was done with; null where there was none.',
    }),
    address: Nullable('The IP address that it came from.'),
    userAgent: Nullable('What the client said it is.'),
    requestId: Nullable('The `x-request-id` of the request that did it, which is in the logs.'),
    subjectId: Nullable('The token, member or session it was done to.'),
    reason: Nullable('Why, as the caller said.'),
    detail: Type.Unsafe<Record<string, unknown>>({ type: 'object', additionalProperties: true }),
    changes: Type.Record(Type.String(), Type.Object({ from: ChangedValue, to: ChangedValue }), {
      description: 'What each changed field was, and what it is now. Never a secret.',
    }),
    createdAt: Time,
  },
  { title: 'AuditEntry' },
);
export type AuditEntry = Type.Static<typeof AuditEntry>;

/** An entry of the audit as another service reports it: an act of a member there, or of an operator. */
const reportedEntry = {
  action: Type.String({
    pattern: `^(?:crawl_[a-z_]+\\.[a-z_]+|${OPERATOR_ACTION.replace('.', '\\.')})$`,
    maxLength: 64,
  }),
  actorId: OrNull(Uuid),
  credential: OrNull(Type.Object({ kind: Type.String({ maxLength: 20 }), id: Uuid }, strict)),
  address: OrNull(Type.String({ maxLength: 64 })),
  userAgent: OrNull(Type.String({ maxLength: MAX_AUDITED_AGENT_LENGTH })),
  requestId: OrNull(Type.String({ maxLength: 128 })),
  subjectId: OrNull(Uuid),
  reason: Type.Optional(OrNull(Type.String({ maxLength: MAX_AUDITED_VALUE_LENGTH }))),
  detail: Type.Record(Type.String(), OrNull(Type.String({ maxLength: MAX_AUDITED_VALUE_LENGTH }))),
};

const instance = {
  connector: Type.String({ maxLength: 50 }),
  instance: Type.String({
    maxLength: 50,
    description: 'Which of the connectors of this type; `default` where there is one.',
  }),
};

const crawl = {
  ...instance,
  name: Type.String({ minLength: 1, maxLength: 300, description: 'What people call it.' }),
  failures: Type.Integer({ minimum: 0, description: 'How many runs in a row have failed.' }),
  reason: Reason,
};

const run = {
  runId: Uuid,
  ...instance,
  trigger: Type.String({ maxLength: 20, description: '`schedule`, `manual`, `missed` or `hook`.' }),
  worker: Type.String({
    maxLength: 20,
    description: 'Who crawls: `pull`, `endpoint`, or `event`: the run only published its event.',
  }),
  mode: Type.String({ maxLength: 20, description: '`full` or `incremental`.' }),
  scheduledFor: Time,
  nextRunAt: Type.Optional(
    Type.Union([Time, Type.Null()], {
      description: 'When the next run is due, as the schedule was then; null when none is.',
    }),
  ),
  startedAt: OrNull(Time),
  attempts: Type.Integer({ minimum: 0 }),
  counters: Type.Record(Type.String(), Type.Integer(), {
    description: 'What was crawled: `items`, `deleted`, `failed` and `bytes`, as far as the worker counts.',
  }),
  reason: Reason,
  source: Type.Optional(
    OrNull(
      Type.Object(
        {
          description: Type.String({ minLength: 1, maxLength: 300, description: 'What is crawled.' }),
          documents: Type.Optional(Type.Integer({ minimum: 0 })),
          oldestAt: Type.Optional(Time),
          newestAt: Type.Optional(Time),
        },
        { description: 'What its worker says of the source; null when it says nothing.' },
      ),
    ),
  ),
};

const mail = {
  mailId: Uuid,
  emailTemplateType: Type.String({ maxLength: 50 }),
  recipients: Type.Integer({ minimum: 0, description: 'How many the mail has.' }),
  attempts: Type.Integer({ minimum: 0 }),
  problem: OrNull(
    Type.Record(Type.String(), Type.Union([Type.String({ maxLength: 300 }), Type.Number()]), {
      description: 'Codes of the last problem; never the text of a server.',
    }),
  ),
  senderId: Type.Optional(
    Type.Union([Uuid, Type.Null()], {
      description: 'The member or service account that sent it; null for the platform.',
    }),
  ),
};

const reportedMail = {
  ...mail,
  reference: Type.Optional(
    Type.String({
      maxLength: 255,
      description: 'The idempotency key of a mail of identity. It is not published.',
    }),
  ),
};

const suppression = {
  suppressionId: Uuid,
  reason: Type.String({
    maxLength: 20,
    description: '`refused` by the SMTP server, a `bounce`, a `complaint`, or added by an `administrator`.',
  }),
  status: OrNull(Type.String({ maxLength: 20, description: 'The enhanced status code (RFC 3463).' })),
  mails: Type.Optional(
    Type.Array(Type.Object({ mailId: Uuid, senderId: Uuid }, open), {
      maxItems: 20,
      description: 'What accounts have sent to the address within the last seven days, the newest first.',
    }),
  ),
};

const toReported = <N extends FactType, P extends Type.TProperties>(type: N, data: P) =>
  Type.Object(
    { id: Uuid, orgId: Uuid, type: Type.Literal(type), at: Time, data: Type.Object(data, strict) },
    strict,
  );

/** A fact as another service hands it to identity, at least once, under a unique id. */
export const ReportedFact = Type.Union([
  toReported('audit.entry', reportedEntry),
  toReported('crawl.failing', crawl),
  toReported('crawl.recovered', crawl),
  toReported('crawl.run.completed', run),
  toReported('crawl.run.failed', run),
  toReported('crawl.run.aborted', run),
  toReported('crawl.run.skipped', run),
  toReported('mail.sent', reportedMail),
  toReported('mail.failed', reportedMail),
  toReported('mail.unknown', reportedMail),
  toReported('mail.suppressed', suppression),
]);
export type ReportedFact = Type.Static<typeof ReportedFact>;

function toDataSchema(type: FactType): Type.TObject {
  if (isAuditType(type)) return AuditEntry;
  if (type === 'mail.suppressed') return Type.Object(suppression, open);
  if (type.startsWith('mail.')) return Type.Object(mail, open);
  return Type.Object(type.startsWith('crawl.run.') ? run : crawl, open);
}

const toContract = (type: FactType) =>
  Type.Object(
    {
      specversion: Type.Literal('1.0'),
      id: Type.String({ format: 'uuid', description: 'Unique; consumers drop an id that they have seen.' }),
      source: Type.String({ format: 'uri-reference', description: '`/organisations/{orgId}`' }),
      type: Type.Literal(type),
      time: Type.String({ format: 'date-time', description: 'When it happened.' }),
      datacontenttype: Type.Literal('application/json'),
      data: toDataSchema(type),
    },
    { $id: `${type}.schema.json`, title: type, description: factTypes[type], ...open },
  );

const typesInOrder = Object.keys(factTypes) as FactType[];

/** The contract of the facts of each type. */
export const factContracts = Object.freeze(
  Object.fromEntries(typesInOrder.map((type) => [type, toContract(type)])) as Record<
    FactType,
    ReturnType<typeof toContract>
  >,
);

const ORGANISATION = '01890a5d-0000-7000-8000-000000000001';
const SUBJECT = '01890a5d-0000-7000-8000-000000000003';
const AT = '2026-11-27T08:13:44.123Z';
const EXPIRY = '2026-12-11T08:13:44.123Z';
const client = { clientId: '01890a5d-0000-7000-8000-000000000005', userId: SUBJECT };
const group = { groupId: '01890a5d-0000-7000-8000-000000000007', group: 'Engineering' };
const token = { name: 'ci', expiresAt: EXPIRY };
const connection = { server: 'tickets', serverId: '01890a5d-0000-7000-8000-000000000008' };

/** The additional fields of an entry of each type: the action, and its detail. */
const auditExamples: Readonly<Partial<Record<FactType, Partial<AuditEntry>>>> = {
  'audit.entry': {
    action: 'destination.created',
    detail: { url: 'https://hooks.example/…' },
    changes: { form: { from: null, to: 'webhook' } },
  },
  'token.created': { detail: { ...token, scopes: 'user:read crawl:read' } },
  'token.rotated': {
    detail: { replacedBy: '01890a5d-0000-7000-8000-000000000004', graceEndsAt: null },
  },
  'token.revoked': { reason: 'no longer needed' },
  'token.expiring': {
    actorId: null,
    credential: null,
    address: null,
    userAgent: null,
    requestId: null,
    detail: token,
  },
  'token.leaked': {
    actorId: null,
    credential: null,
    address: null,
    userAgent: null,
    requestId: null,
    detail: { url: 'https://github.com/acme/site/blob/main/.env' },
  },
  'token.reused': { actorId: null, credential: { kind: 'pat', id: SUBJECT } },
  'member.invited': {
    action: 'user.invited',
    changes: { email: { from: null, to: 'ada@acme.example' }, role: { from: null, to: 'user' } },
  },
  'member.joined': { action: 'invitation.accepted', actorId: SUBJECT, credential: null },
  'member.removed': { action: 'user.removed' },
  'member.role_changed': {
    action: 'user.role_changed',
    changes: { role: { from: 'user', to: 'admin' } },
  },
  'group.created': { changes: { name: { from: null, to: 'Engineering' } } },
  'group.changed': { changes: { name: { from: 'Engineering', to: 'Research' } } },
  'group.removed': { changes: { name: { from: 'Research', to: null } } },
  'group.member_added': { detail: group },
  'group.member_removed': { detail: group },
  'session.suspicious': {
    action: 'session.created',
    credential: null,
    detail: { method: 'password', device: 'new' },
  },
  'app.connected': {
    action: 'connected_app.authorized',
    detail: {
      clientId: client.clientId,
      scopes: 'mcp:read',
      redirectUri: 'http://127.0.0.1/callback',
      expiresAt: EXPIRY,
    },
  },
  'app.expiring': {
    action: 'connected_app.expiring',
    actorId: null,
    credential: null,
    address: null,
    userAgent: null,
    requestId: null,
    detail: { ...client, expiresAt: EXPIRY },
  },
  'app.disconnected': { action: 'connected_app.revoked', detail: client },
  'mcp.connected': { action: 'mcp_credential.stored', detail: connection },
  'mcp.connection_failing': {
    action: 'mcp_credential.refused',
    actorId: null,
    credential: null,
    address: null,
    userAgent: null,
    requestId: null,
    detail: connection,
  },
  'mcp.disconnected': { action: 'mcp_credential.removed', detail: connection },
  'mcp.definition_changed': {
    action: 'mcp_server.tools_offered',
    detail: { server: 'tickets', new: '1', changed: '0', withdrawn: '0' },
  },
  'mcp.server_down': {
    action: 'mcp_server.unreachable',
    detail: { server: 'tickets', fault: 'timeout' },
  },
};

const runExample = {
  runId: SUBJECT,
  connector: 'wiki_1',
  instance: 'default',
  trigger: 'schedule',
  worker: 'pull',
  mode: 'incremental',
  scheduledFor: '2026-11-27T08:00:00.000+00:00',
  nextRunAt: '2026-11-28T08:00:00.000+00:00',
  startedAt: '2026-11-27T08:00:00.250+00:00',
  attempts: 1,
  counters: { items: 120, deleted: 3, failed: 0, bytes: 1_048_576 },
  reason: null,
  source: {
    description: 'The pages of handbook.acme.example',
    documents: 4_210,
    oldestAt: '2019-03-04T10:00:00.000Z',
    newestAt: '2026-11-27T07:58:12.000Z',
  },
};
const unstarted = { ...runExample, startedAt: null, attempts: 0, counters: {} };
const crawlExample = { connector: 'wiki_1', instance: 'default', name: 'Handbook' };
const mailExample = {
  mailId: SUBJECT,
  emailTemplateType: 'accountCreation',
  recipients: 1,
  attempts: 1,
  problem: null,
  senderId: '01890a5d-0000-7000-8000-000000000002',
};

const otherExamples: Readonly<Partial<Record<FactType, FactEvent['data']>>> = {
  'crawl.failing': { ...crawlExample, failures: 3, reason: 'The endpoint answered 500' },
  'crawl.recovered': { ...crawlExample, failures: 0, reason: null },
  'crawl.run.completed': runExample,
  'crawl.run.failed': { ...runExample, attempts: 3, reason: 'The endpoint answered 500' },
  'crawl.run.aborted': { ...runExample, reason: 'Cancelled by an administrator' },
  'crawl.run.skipped': { ...unstarted, reason: 'The previous run was still in progress' },
  'mail.sent': mailExample,
  'mail.failed': { ...mailExample, problem: { code: 'EENVELOPE', reply: 550, status: '5.1.1' } },
  'mail.unknown': { ...mailExample, problem: { code: 'ECONNECTION' } },
  'mail.suppressed': {
    suppressionId: SUBJECT,
    reason: 'bounce',
    status: '5.1.1',
    mails: [{ mailId: SUBJECT, senderId: mailExample.senderId }],
  },
};

const toEntryExample = (id: string, type: FactType): AuditEntry => ({
  id,
  action: type,
  actorId: '01890a5d-0000-7000-8000-000000000002',
  credential: { kind: 'session', id: '01890a5d-0000-7000-8000-000000000006' },
  address: '192.0.2.1',
  userAgent: 'Mozilla/5.0',
  requestId: '01890a5d-0000-7000-8000-000000000009',
  subjectId: SUBJECT,
  reason: null,
  detail: {},
  changes: {},
  createdAt: AT,
  ...auditExamples[type],
});

/** An example of the facts of each type. */
export const factExamples = Object.freeze(
  Object.fromEntries(
    typesInOrder.map((type, index): [FactType, FactEvent] => {
      const id = `01890a5d-ac96-774b-bcce-${String(index).padStart(12, '0')}`;
      const example = {
        specversion: '1.0',
        id,
        source: `/organisations/${ORGANISATION}`,
        type,
        time: AT,
        datacontenttype: 'application/json',
        data: otherExamples[type] ?? toEntryExample(id, type),
      } as const;
      return [type, example];
    }),
  ) as Record<FactType, FactEvent>,
);
