import formbody from '@fastify/formbody';
import { authPlugin, getAccount } from '@platform/auth';
import { facts, startOutbox } from '@platform/events';
import {
  type App,
  assertWritable,
  createApp,
  createSecretBox,
  reportMissingKeys,
  notFound,
  registerIdempotency,
  type ServiceApp,
  type ServiceDeps,
  standardErrors,
} from '@platform/service-kit';
import { findFollowers } from './access/followers.js';
import { registerAgents } from './access/agents/routes.js';
import { registerAccess } from './access/routes.js';
import { registerAccounts } from './accounts.js';
import { createStartJob } from './base/start-job.js';
import type { IdentityConfig } from './config.js';
import { findCrawlAges } from './facts/crawl-ages.js';
import { registerActivity } from './facts/activity.js';
import { registerFactFeed } from './facts/feed.routes.js';
import { registerAudit } from './audit/routes.js';
import { registerDestinations } from './destinations/feature.js';
import { sealedColumns } from './commands/sealed-columns.js';
import { registerConnectedApps } from './oauth/connections/routes.js';
import { registerConnectionPolicy } from './oauth/connection-policy/routes.js';
import { consoleRoutes } from './console/routes.js';
import type { ResolveTxt } from './sign-in/identity-provider/dns.js';
import { introspectionRoutes } from './credentials/introspection/routes.js';
import { createIntrospect } from './credentials/introspection/service.js';
import { startLiveness } from './credentials/liveness/feature.js';
import { registerGroups } from './groups/routes.js';
import { startExpiry } from './jobs/expiry.job.js';
import { groupUses } from './mcp/servers/access.js';
import { registerKnowledge } from './knowledge/routes.js';
import { registerMcpServers } from './mcp/servers/feature.js';
import { discoveryRoutes } from './mcp/discovery/routes.js';
import { registerMcp } from './mcp/endpoint/feature.js';
import { registerToolOverview } from './mcp/overview/routes.js';
import { registerEvents } from './mcp/events/feature.js';
import { createRecordStep, startAttemptJournal } from './oauth/attempts/feature.js';
import { registerAttempts } from './oauth/attempts/routes.js';
import { registerApplications } from './oauth/applications/routes.js';
import { registerConsent } from './oauth/consent/routes.js';
import type { FetchDocument } from './oauth/provider/document-fetch.js';
import { registerOauth } from './oauth/provider/feature.js';
import { createFindOrganisationName } from './members/organisation/names.js';
import { serviceCredentialRoutes } from './credentials/service-credentials/routes.js';
import { createServiceCredentials } from './credentials/service-credentials/service.js';
import { startSigningKeys } from './credentials/signing-keys/feature.js';
import { guardDangerousRoutes } from './sign-in/confirmation/guard.js';
import { signingKeyRoutes } from './credentials/signing-keys/routes.js';
import { registerToolActivity, startToolCallRecorder } from './mcp/activity/feature.js';
import type { Passwords } from './base/passwords.js';
import type { Resources } from './resources.js';
import { toMcpServerSettings, toMcpSettings, toOauthSettings } from './settings.js';
import { registerTokens } from './tokens/feature.js';
import { showNotFound } from './sign-in/page-kit/scope.js';

export interface IdentityDeps extends ServiceDeps<IdentityConfig, Resources> {
  /** Replaces the fetch of clients' documents. Tests set it. */
  readonly fetchDocument?: FetchDocument;
  /** Replaces the name servers that know the domains of organisations. Tests set it. */
  readonly resolveTxt?: ResolveTxt;
  /** Replaces the hashing of passwords by a cheaper one. Tests set it. */
  readonly passwords?: Passwords;
  /** The built files of the console; undefined in tests of the API alone. */
  readonly consoleFolder?: string;
}

async function createIdentityApp({ config, resources }: IdentityDeps): Promise<ServiceApp> {
  const service = await createApp({
    service: 'identity',
    title: 'Identity',
    description: 'Organisations, members, sessions, personal access tokens and the remote tool endpoint.',
    otherDocs: ['mail', 'crawl'],
    tags: {
      Account: 'Signing in, and the own password, second factor and passkeys.',
      Sessions: 'Open sessions: the own ones, and for administrators those of members.',
      Users: 'The members of the organisation, their roles, invitations and preferences.',
      Groups: 'Groups of members and service accounts, to which knowledge and tools can be limited.',
      'Personal access tokens': 'Tokens with which programs act as a member or a service account.',
      'Service accounts': 'Accounts of programs, which belong to no person.',
      'OAuth applications': 'Applications that the organisation has registered.',
      'Connected apps': 'Applications that members have connected, and what the organisation allows of them.',
      Agents: 'Whatever acts with a token or as a connected application: its calls, and what it was refused.',
      'Remote tools': 'The MCP endpoint of the platform, and how clients discover it.',
      'MCP servers': 'Servers of others whose tools are mounted, and the accounts that people have there.',
      Knowledge: 'Where the documents come from that can be searched.',
      Access: 'Decisions about who may use what, by the AuthZEN Authorization API.',
      'Event subscriptions': 'Events that agents have sent to their own addresses.',
      Destinations: 'Webhooks and log receivers to which the facts of the organisation are sent.',
      Audit: 'What was done in the organisation, and by whom.',
      Configuration: 'How members sign in, the SMTP server, and the identity provider.',
      Keys: 'The public keys with which credentials are verified.',
    },
    errors: standardErrors,
    log: resources.log,
    commit: config.COMMIT,
    trustProxy: config.TRUST_PROXY,
    showNotFound,
  });
  service.health.checks.set('database', () => assertWritable(resources.livenessPool));
  return service;
}

/** Below these paths, servers of others are asked, and their answers are read. */
const MCP_PATHS = /^\/(?:mcp|api\/v1\/mcp-servers|oauth2\/upstream)(?:\/|$)/;

/** Leaves these paths to the processes with the role `mcp`: an answer can exhaust the memory of the process that reads it. */
function leaveMcp(app: App): void {
  app.addHook('onRequest', ({ routeOptions }, _reply, done) => {
    if (MCP_PATHS.test(routeOptions.url ?? '')) throw notFound('Not found');
    done();
  });
}

/** Registers what the platform's services call. Only these routes accept the form bodies that OAuth prescribes. */
function registerServiceRoutes(app: App, deps: Parameters<typeof createServiceCredentials>[0]): void {
  app.register(async (scope: App) => {
    await scope.register(formbody);
    serviceCredentialRoutes(scope, createServiceCredentials(deps));
    introspectionRoutes(scope, createIntrospect(app.verifyBearer));
  });
}

/** Builds the service without a listener: tests drive it directly, and `main.ts` serves it. */
export async function buildIdentity(deps: IdentityDeps): Promise<ServiceApp> {
  const { config, resources, shutdown, clock, fetchDocument, resolveTxt, passwords, consoleFolder } = deps;
  const { pool } = resources;
  const service = await createIdentityApp(deps);
  const { app, metrics } = service;
  const box = createSecretBox(config.ENCRYPTION_KEYS);
  void reportMissingKeys({
    ...resources,
    keys: config.ENCRYPTION_KEYS,
    sealed: Object.values(sealedColumns).map(({ table, column }) => `select ${column} from ${table}`),
  });
  if (config.ROLE === 'main') leaveMcp(app);
  const startJob = createStartJob(shutdown, config.ROLE !== 'mcp');
  const common = { ...resources, config, box, clock, metrics, startJob, shutdown };

  const keys = await startSigningKeys({ ...common, issuer: config.TOKEN_ISSUER });
  const { liveness, refusedUses } = startLiveness(common);
  const { KAFKA_FACTS_TOPIC: topic } = config;
  if (config.ROLE !== 'mcp')
    startOutbox({ ...common, events: facts, topic, service: 'identity', registry: metrics });
  startExpiry({
    ...common,
    toolCallDays: config.TOOL_CALL_DAYS,
    auditDays: config.AUDIT_DAYS,
    hasKafka: config.KAFKA_BROKERS.length > 0,
  });
  const recorder = startToolCallRecorder(common);
  await app.register(authPlugin, {
    issuer: config.TOKEN_ISSUER,
    audience: 'identity',
    keySet: keys.keySet,
    liveness,
    clock,
    clockToleranceMs: 0,
    publicUrl: config.PUBLIC_URL,
    recordRefusal: recorder.recordRefusal,
  });
  guardDangerousRoutes(app, common);
  registerIdempotency(app, { ...common, getCaller: getAccount });

  const outbox = registerAccounts(app, { ...common, keys, resolveTxt, passwords });
  signingKeyRoutes(app, keys);
  const tokens = {
    ...common,
    keys,
    outbox,
    tokenPrefix: config.TOKEN_PREFIX,
    defaultScopes: config.MCP_SCOPES,
    historyDays: config.AUDIT_DAYS,
  };
  registerGroups(app, { ...common, uses: groupUses });
  registerTokens(app, { ...tokens, refusedUses });
  registerToolActivity(app, { pool, recorder });
  registerConnectedApps(app, common);
  registerConnectionPolicy(app, {
    ...common,
    clientHosts: config.OAUTH_CLIENT_HOSTS,
    isRegistrationOpen: config.OAUTH_REGISTRATION === 'on',
  });
  registerApplications(app, common);
  registerAudit(app, common);
  registerActivity(app, common);
  registerFactFeed(app, common);
  const destinations = registerDestinations(app, {
    ...common,
    outbox,
    allowedTargets: config.DESTINATION_ALLOWED_TARGETS,
  });
  const journal = startAttemptJournal(common);
  const recordStep = createRecordStep(journal);
  registerAttempts(app, common);
  const oauth = registerOauth(app, {
    ...common,
    journal,
    recordStep,
    keys,
    ...toOauthSettings(config),
    outbox,
    fetchDocument,
  });
  registerConsent(app, { ...common, ...oauth, recordStep });
  const findCatalogue = registerMcpServers(app, {
    ...common,
    outbox,
    settings: toMcpServerSettings(config),
    signClaims: keys.signClaims,
    startJob: createStartJob(shutdown, config.ROLE !== 'main'),
  });
  const mcpSettings = toMcpSettings(config);
  const events = registerEvents(app, {
    ...common,
    destinations,
    findCredentials: (orgId, kind, ids) =>
      findFollowers(
        resources.deliveryPool,
        { orgId, kind, ids },
        { now: clock(), clientHosts: config.OAUTH_CLIENT_HOSTS },
      ),
  });
  const endpoint = registerMcp(app, {
    ...common,
    tokens,
    settings: mcpSettings,
    findOrganisationName: createFindOrganisationName(pool),
    exchangeFor: oauth.exchangeFor,
    recordCall: recorder.record,
    recordStep,
    findCatalogue,
    findAges: (orgId, connectors) => findCrawlAges(pool, orgId, connectors),
    events: events.methods,
  });
  events.start(endpoint);
  discoveryRoutes(app, mcpSettings, endpoint);
  registerToolOverview(app, { ...common, endpoint });
  registerKnowledge(app, { ...common, endpoint });
  registerAccess(app, { ...common, endpoint, resources: oauth.resources, publicUrl: config.PUBLIC_URL });
  registerAgents(app, { ...common, endpoint, resources: oauth.resources });
  registerServiceRoutes(app, {
    ...common,
    keys,
    clients: config.SERVICE_CLIENTS,
    configClientId: config.CONFIG_CLIENT_ID,
    crawlClientId: config.CRAWL_CLIENT_ID,
  });
  if (consoleFolder !== undefined) await consoleRoutes(app, consoleFolder, config.COMMIT);
  return service;
}
