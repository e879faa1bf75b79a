import { getMember, requireSession } from '@platform/auth';
import { type AuditEntry, type FactEvent, findEvent, isAuditType, readFacts } from '@platform/events';
import { type App, AppError, errorResponses } from '@platform/service-kit';
import { Type } from 'typebox';
import { findAuditNames, findByIds } from '../audit/queries.js';
import { AuditName } from '../audit/schemas.js';
import { findNames, toEntry } from '../audit/service.js';
import { requireAdminRole } from '../base/authority.js';
import type { Prisma } from '../prisma.js';
import type { Resources } from '../resources.js';
import { cursorGone, readingCursor } from './feed.routes.js';
import { Fact } from './feed.schemas.js';

/*
 * The activity of an organisation: its facts, newest first, for people. Names come with them, which programs that follow the feed
 * look up themselves.
 */

/** What facts are about, by the first part of the action of an audit entry, or of the type of another fact. */
export const areas = {
  people: ['group', 'invitation', 'password', 'second_factor', 'session', 'sessions', 'sign_in', 'user'],
  agents: [
    'application',
    'connected_app',
    'event_subscription',
    'mcp_credential',
    'service_account',
    'token',
  ],
  crawls: [
    'crawl',
    'crawl_checkpoint',
    'crawl_endpoint',
    'crawl_hook',
    'crawl_instance',
    'crawl_run',
    'crawl_schedule',
    'crawl_worker',
  ],
  mails: ['mail'],
  settings: [
    'configuration',
    'destination',
    'identity_domain',
    'identity_provider',
    'mcp_server',
    'operator',
    'organisation',
  ],
} as const satisfies Readonly<Record<string, readonly string[]>>;
type Area = keyof typeof areas;

const ActivityQuery = Type.Object(
  {
    after: Type.Optional(
      Type.String({
        maxLength: 200,
        description: 'The `nextCursor` of an earlier page.',
        'x-documented': { pattern: '^[A-Za-z0-9_-]+$' },
      }),
    ),
    limit: Type.Integer({ minimum: 1, maximum: 100, default: 50 }),
    about: Type.Optional(
      Type.Enum(Object.keys(areas) as Area[], {
        description: 'What it is about. A page may then be empty and yet have `hasMore`.',
      }),
    ),
  },
  { additionalProperties: false },
);

const names = Type.Record(Type.String(), AuditName, {
  description: 'By id: whom and what the facts mean. What no longer exists has no name.',
});
const ActivityPage = Type.Object({
  data: Type.Array(Fact),
  names,
  nextCursor: Type.Union([Type.String(), Type.Null()], { description: 'Null at the end.' }),
  hasMore: Type.Boolean(),
});
const FoundActivity = Type.Object({ fact: Fact, names });
const ActivityParams = Type.Object({ id: Type.String({ format: 'uuid' }) });
const Subject = Type.Object(
  {
    id: Type.String({ description: 'Of what it belongs to, such as the connection of an access token.' }),
    ...AuditName.properties,
  },
  { title: 'Subject' },
);

const listEntries = (facts: readonly FactEvent[]): AuditEntry[] =>
  facts.flatMap(({ type, data }) => (isAuditType(type) ? [data as AuditEntry] : []));

const toFact = (orgId: string, entry: AuditEntry): FactEvent => ({
  specversion: '1.0',
  id: entry.id,
  source: `/organisations/${orgId}`,
  type: 'audit.entry',
  time: entry.createdAt,
  datacontenttype: 'application/json',
  data: entry,
});

/** Finds a fact; an entry of the audit for as long as the audit is kept, which is longer than the feed. */
async function findFact(
  { pool, prisma }: Pick<Resources, 'pool' | 'prisma'>,
  orgId: string,
  id: string,
): Promise<FactEvent | undefined> {
  const event = await findEvent<FactEvent>(pool, { orgId, eventId: id });
  if (event) return event;
  const [row] = await findByIds(prisma, orgId, [id]);
  return row && toFact(orgId, toEntry(row));
}

const findNamesOf = (prisma: Prisma, orgId: string, facts: readonly FactEvent[]) =>
  findNames(prisma, orgId, listEntries(facts));

/** Finds what an id of the organisation stands for. */
async function findSubject(resources: Pick<Resources, 'pool' | 'prisma'>, orgId: string, id: string) {
  const { prisma } = resources;
  const accessToken = await prisma.oauthAccessToken.findUnique({
    where: { id },
    select: { grantId: true, serviceAccountId: true },
  });
  // Of another organisation, neither has a name here.
  const named = accessToken?.grantId ?? accessToken?.serviceAccountId ?? id.toLowerCase();
  const found = (await findAuditNames(prisma, orgId, [named]))[named];
  if (found) return { id: named, ...found };
  const fact = await findFact(resources, orgId, named);
  return fact && { id: named, kind: 'activity', name: fact.type };
}

/** Registers the activity of an organisation, for administrators with a session. [AUD-30] */
const activityNotFound = (): AppError =>
  new AppError({
    status: 404,
    code: 'ACTIVITY_NOT_FOUND',
    message: 'Nothing with this id happened in the organisation, or it is no longer kept',
  });

const subjectNotFound = (): AppError =>
  new AppError({
    status: 404,
    code: 'SUBJECT_NOT_FOUND',
    message: 'Nothing in the organisation has this id, or it is no longer kept',
  });

export function registerActivity(app: App, resources: Pick<Resources, 'pool' | 'prisma'>): void {
  const { pool, prisma } = resources;
  const onRequest = [app.authenticate, requireAdminRole, requireSession];

  app.get(
    '/api/v1/activity',
    {
      onRequest,
      schema: {
        operationId: 'listActivity',
        tags: ['Audit'],
        summary: 'What happened in the organisation in the last two weeks, newest first, with names',
        description:
          'Follow `nextCursor` for older ones. Mails, runs and acts of agents are included beside the audit.',
        querystring: ActivityQuery,
        response: { 200: ActivityPage, ...errorResponses(400, 401, 403, 410, cursorGone()) },
      },
    },
    async (request) => {
      const { orgId } = getMember(request);
      const { after, limit, about } = request.query;
      const subjects = about && areas[about];
      const page = await readingCursor(() =>
        readFacts(pool, { orgId, after, limit, isNewestFirst: true, subjects }),
      );
      return { ...page, names: await findNamesOf(prisma, orgId, page.data) };
    },
  );

  app.get(
    '/api/v1/activity/:id',
    {
      onRequest,
      schema: {
        operationId: 'getActivity',
        tags: ['Audit'],
        summary: 'One thing that happened in the organisation',
        description:
          'An entry of the audit can be read for as long as the audit is kept, other facts for two weeks.',
        params: ActivityParams,
        response: { 200: FoundActivity, ...errorResponses(400, 401, 403, activityNotFound()) },
      },
    },
    async (request) => {
      const { orgId } = getMember(request);
      const fact = await findFact(resources, orgId, request.params.id);
      if (!fact) throw activityNotFound();
      return { fact, names: await findNamesOf(prisma, orgId, [fact]) };
    },
  );

  app.get(
    '/api/v1/activity/subjects/:id',
    {
      onRequest,
      schema: {
        operationId: 'findSubject',
        tags: ['Audit'],
        summary: 'What an id of the organisation stands for',
        description:
          'The kinds are those of the audit, and `activity` for what happened. The id of an OAuth access token, its `jti`, stands for its connection.',
        params: ActivityParams,
        response: {
          200: Type.Object({ subject: Subject }),
          ...errorResponses(400, 401, 403, subjectNotFound()),
        },
      },
    },
    async (request) => {
      const subject = await findSubject(resources, getMember(request).orgId, request.params.id);
      if (!subject) throw subjectNotFound();
      return { subject };
    },
  );
}
