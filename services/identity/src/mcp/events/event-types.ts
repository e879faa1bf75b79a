import { factContracts, type FactEvent, type FactType, factTypes, isAuditType } from '@platform/events';
import { Type } from 'typebox';
import type { ToolSchema } from '../endpoint/tool.js';
import type { EventCaller } from './event-caller.js';

/*
 * The types of events that agents can follow (SEP-3415). Each is made of facts of the feed. Whoever can call the tool that
 * shows the same sees the events, so that scopes, role, groups and bounds decide as they do about tools; what no tool shows
 * is for administrators.
 */

export type EventArguments = Readonly<Record<string, string | number>>;

/** A token that a fact is about, of the account that follows it. */
export interface OwnToken {
  readonly id: string;
  readonly name: string;
  readonly expiresAt: Date | null;
}

interface FactContext {
  readonly fact: FactEvent;
  readonly args: EventArguments;
  readonly caller: EventCaller;
  /** The token of the account that the fact is about; undefined for another account's. */
  readonly ownToken: OwnToken | undefined;
}

export interface EventType {
  readonly name: string;
  /** Says to a model what has happened, and how to use it. */
  readonly description: string;
  readonly factTypes: readonly FactType[];
  readonly inputSchema: ToolSchema;
  readonly payloadSchema: ToolSchema;
  /** The arguments that the data of a fact must have, too; the database compares them. */
  readonly comparedArguments: readonly string[];
  isVisible(this: void, caller: EventCaller): boolean;
  /** Whether the caller may name the arguments. What is out of reach is answered as what does not exist. */
  accepts(this: void, args: EventArguments, caller: EventCaller): boolean;
  /** Returns the data of the event that a fact is for the caller; undefined when it is none. */
  toData(this: void, given: FactContext): Readonly<Record<string, unknown>> | undefined;
}

const Connector = Type.String({
  maxLength: 50,
  description: 'Of this connector alone, such as `wiki_1`; without it, of all.',
});
const Instance = Type.String({
  maxLength: 50,
  description: 'Of this instance of the connector alone; `default` where there is one.',
});
const strict = { additionalProperties: false };
const byConnector = { connector: Type.Optional(Connector), instance: Type.Optional(Instance) };
const NoArguments = Type.Object({}, strict);

const hasArguments = ({ fact: { data }, args }: FactContext, names: readonly string[]): boolean =>
  names.every((name) => args[name] === undefined || data[name] === args[name]);

const toPayloadSchema = (type: FactType): ToolSchema => factContracts[type].properties.data;

/** An event about crawls is a fact as it is, for whoever can call `get_crawl`. */
function crawlEvent(name: FactType, hint: string, more: Type.TProperties = {}): EventType {
  const comparedArguments = Object.keys(byConnector);
  return {
    name,
    description: `${factTypes[name]} ${hint}`,
    factTypes: [name],
    inputSchema: Type.Object({ ...byConnector, ...more }, strict),
    payloadSchema: toPayloadSchema(name),
    comparedArguments,
    isVisible: (caller) => caller.canCall('get_crawl'),
    accepts: ({ connector }, caller) => connector === undefined || caller.canCrawl(String(connector)),
    toData(given) {
      const { fact, args, caller } = given;
      const { connector, failures } = fact.data;
      const isMeant =
        caller.canCrawl(String(connector)) &&
        hasArguments(given, comparedArguments) &&
        (args['minFailures'] === undefined || Number(failures) >= Number(args['minFailures']));
      return isMeant ? fact.data : undefined;
    },
  };
}

const Count = Type.Integer({ minimum: 0 });

const documentsChanged: EventType = {
  name: 'documents.changed',
  description:
    'Documents of a connector were added, changed or deleted: a crawl has completed and brought them. Follow it to say what is new in a wiki or a drive; then search for what changed since the last event. It counts documents, and names none.',
  factTypes: ['crawl.run.completed'],
  inputSchema: Type.Object(byConnector, strict),
  payloadSchema: Type.Object({
    connector: Type.String(),
    instance: Type.String(),
    runId: Type.String({ format: 'uuid' }),
    mode: Type.String({ description: '`full` or `incremental`.' }),
    items: Type.Integer({ minimum: 0, description: 'How many documents were added or changed.' }),
    deleted: Count,
    startedAt: Type.Union([Type.String({ format: 'date-time' }), Type.Null()]),
  }),
  comparedArguments: Object.keys(byConnector),
  isVisible: ({ connectors, canCall }) => connectors.size > 0 || canCall('get_crawl'),
  accepts: ({ connector }, caller) => connector === undefined || caller.canReadDocuments(String(connector)),
  toData(given) {
    const { connector, instance, runId, mode, startedAt, counters } = given.fact.data;
    const { items = 0, deleted = 0 } = counters as Readonly<Record<string, number>>;
    return items + deleted > 0 &&
      hasArguments(given, Object.keys(byConnector)) &&
      given.caller.canReadDocuments(String(connector))
      ? { connector, instance, runId, mode, items, deleted, startedAt }
      : undefined;
  },
};

const everything = { accepts: () => true, comparedArguments: [], inputSchema: NoArguments } as const;
const forTokenOwners = { ...everything, isVisible: ({ canCall }: EventCaller) => canCall('list_my_tokens') };
const OwnTokenData = {
  tokenId: Type.String({ format: 'uuid' }),
  name: Type.String(),
  expiresAt: Type.Union([Type.String({ format: 'date-time' }), Type.Null()]),
};
const toTokenData = ({ id, name, expiresAt }: OwnToken) => ({
  tokenId: id,
  name,
  expiresAt: expiresAt?.toISOString() ?? null,
});

const ownTokenExpiring: EventType = {
  ...forTokenOwners,
  name: 'my_token.expiring',
  description:
    'A personal access token of the account expires in 14, 7 or 1 days, or has expired. Replace it in time: rotate_my_token does.',
  factTypes: ['token.expiring'],
  payloadSchema: Type.Object(OwnTokenData),
  toData: ({ ownToken }) => ownToken && toTokenData(ownToken),
};

const ownTokenRevoked: EventType = {
  ...forTokenOwners,
  name: 'my_token.revoked',
  description:
    'A personal access token of the account was revoked, by its owner, an administrator or a rule, or was found somewhere public. What used it has stopped working.',
  factTypes: ['token.revoked', 'token.leaked'],
  payloadSchema: Type.Object({
    ...OwnTokenData,
    isLeaked: Type.Boolean({ description: 'Whether it was found somewhere public.' }),
    reason: Type.Union([Type.String(), Type.Null()]),
  }),
  toData: ({ ownToken, fact: { type, data } }) =>
    ownToken && {
      ...toTokenData(ownToken),
      isLeaked: type === 'token.leaked',
      reason: data['reason'] ?? null,
    },
};

/** Returns the client of a connection that a fact is about, if it is of the account that follows. */
function findOwnConnection({ fact: { data }, caller }: FactContext) {
  const { clientId, userId, expiresAt } = data['detail'] as Readonly<Record<string, unknown>>;
  return userId === caller.principal.userId
    ? { connectionId: data['subjectId'], clientId, expiresAt }
    : undefined;
}

const ownAppExpiring: EventType = {
  ...forTokenOwners,
  name: 'my_app.expiring',
  description:
    'The connection of an application that acts for the account expires within a week. Ask the person to connect it again in time.',
  factTypes: ['app.expiring'],
  payloadSchema: Type.Object({
    connectionId: Type.String({ format: 'uuid' }),
    clientId: Type.String(),
    expiresAt: Type.String({ format: 'date-time' }),
  }),
  toData: findOwnConnection,
};

const ownAppDisconnected: EventType = {
  ...forTokenOwners,
  name: 'my_app.disconnected',
  description:
    'The connection of an application that acts for the account has ended. It can do nothing more until it is connected again.',
  factTypes: ['app.disconnected'],
  payloadSchema: Type.Object({
    connectionId: Type.String({ format: 'uuid' }),
    clientId: Type.String(),
    reason: Type.Union([Type.String(), Type.Null()]),
  }),
  toData(given) {
    const found = findOwnConnection(given);
    if (!found) return undefined;
    const { connectionId, clientId } = found;
    return { connectionId, clientId, reason: given.fact.data['reason'] ?? null };
  },
};

const StringOrNull = (description: string) => Type.Union([Type.String(), Type.Null()], { description });

/** Finds the mails of the account that a fact is about. */
function findOwnMails({ fact: { data }, caller }: FactContext): string[] {
  const { userId } = caller.principal;
  const mails = (data['mails'] ?? [data]) as readonly {
    readonly mailId: string;
    readonly senderId?: string;
  }[];
  return mails.filter(({ senderId }) => senderId === userId).map(({ mailId }) => mailId);
}

/** The outcomes of mails that a fact says; a suppression says why. */
const mailOutcomes: Readonly<Partial<Record<FactType, string>>> = {
  'mail.failed': 'failed',
  'mail.unknown': 'unknown',
};

const ownMailFailed: EventType = {
  ...everything,
  name: 'my_mail.failed',
  description:
    'A mail that the account has sent did not arrive, or may not have: it failed, its outcome is unknown, or a recipient of it does not exist or reported it as spam. Tell the person, who knows whom it was for; do not just send it again.',
  factTypes: ['mail.failed', 'mail.unknown', 'mail.suppressed'],
  payloadSchema: Type.Object({
    mailIds: Type.Array(Type.String({ format: 'uuid' }), {
      description: 'The mail; after a bounce, all that went to the address within a week.',
    }),
    outcome: Type.String({
      description:
        '`failed`, `unknown`, or of one recipient: `refused` by the server, `bounce`, `complaint`.',
    }),
    emailTemplateType: StringOrNull('Null of one recipient.'),
    status: StringOrNull('The enhanced status code (RFC 3463), where there is one.'),
  }),
  isVisible: ({ canCall }) => canCall('send_email'),
  toData(given) {
    const { type, data } = given.fact;
    const mailIds = findOwnMails(given);
    const problem = data['problem'] as Readonly<Record<string, unknown>> | null | undefined;
    return mailIds.length === 0 || data['reason'] === 'administrator'
      ? undefined
      : {
          mailIds,
          outcome: mailOutcomes[type] ?? data['reason'],
          emailTemplateType: data['emailTemplateType'] ?? null,
          status: data['status'] ?? problem?.['status'] ?? null,
        };
  },
};

/** What happens to mails is for whoever can send some. */
const mailEvent = (name: FactType): EventType => ({
  ...everything,
  name,
  description: `${factTypes[name]} It concerns all mails of the organisation, and names no recipient; my_mail.failed is about those of the account.`,
  factTypes: [name],
  payloadSchema: toPayloadSchema(name),
  isVisible: ({ canCall }) => canCall('send_email'),
  toData: ({ fact }) => fact.data,
});

/** The entries of the audit that are public events, of the whole organisation. */
const auditEvent = (name: FactType): EventType => ({
  ...everything,
  name,
  description: `${factTypes[name]} Of the whole organisation, for administrators.`,
  factTypes: [name],
  payloadSchema: toPayloadSchema(name),
  isVisible: ({ canReadAudit }) => canReadAudit,
  toData: ({ fact }) => fact.data,
});

const auditNames = (Object.keys(factTypes) as FactType[]).filter(
  (type) => isAuditType(type) && type !== 'audit.entry',
);
const MinFailures = Type.Integer({
  minimum: 1,
  description: 'Only when so many runs in a row have failed.',
});

/** All types of events, in the order in which they are listed. */
export const eventTypes: readonly EventType[] = [
  documentsChanged,
  crawlEvent('crawl.run.completed', 'Its counters say what was crawled.'),
  crawlEvent('crawl.run.failed', 'Look at its reason, and at get_crawl.'),
  crawlEvent('crawl.run.skipped', 'What the connector knows is older than planned.'),
  crawlEvent('crawl.failing', 'Somebody should look at its reason.', {
    minFailures: Type.Optional(MinFailures),
  }),
  crawlEvent('crawl.recovered', 'Nothing is left to do.'),
  ownTokenExpiring,
  ownTokenRevoked,
  ownAppExpiring,
  ownAppDisconnected,
  ownMailFailed,
  mailEvent('mail.failed'),
  mailEvent('mail.unknown'),
  mailEvent('mail.suppressed'),
  ...auditNames.map(auditEvent),
];
