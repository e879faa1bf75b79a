import formbody from '@fastify/formbody';
import { authPlugin } from '@platform/auth';
import { createCrawlClient, createMailClient } from '@platform/clients';
import {
  type App,
  type Clock,
  createApp,
  type ServiceApp,
  type Shutdown,
  standardErrors,
  createHostResolver,
  createTargetPolicy,
} from '@platform/service-kit';
import { createAccounts } from './accounts.js';
import type { IdentityConfig } from './config.js';
import { accountLinkRoutes, accountRequestRoutes } from './features/account-flows/routes.js';
import { auditRoutes } from './features/audit/routes.js';
import { createAuditService } from './features/audit/service.js';
import { configurationRoutes, internalConfigurationRoutes } from './features/configuration/routes.js';
import { consoleRoutes } from './features/console/routes.js';
import { introspectionRoutes } from './features/introspection/routes.js';
import { createIntrospect } from './features/introspection/service.js';
import { createLastUsed } from './features/liveness/last-used.js';
import { recordAccessTokenUses, recordTokenUses } from './features/liveness/last-used.queries.js';
import { createRefusedUses } from './features/liveness/refused-uses.js';
import { createDatabaseLiveness } from './features/liveness/service.js';
import { createExpiryJob } from './features/maintenance/expiry.job.js';
import { createCatalogueVersions } from './features/mcp-servers/catalogue-versions.js';
import { createMcpServers } from './features/mcp-servers/feature.js';
import { serverCheckRoutes, serverRoutes } from './features/mcp-servers/routes.js';
import { mountedToolRoutes } from './features/mcp-servers/tool.routes.js';
import { createToolEndpoint } from './features/mcp/endpoint.js';
import { createTools } from './features/mcp/registry.js';
import { createRequestLimit } from './features/mcp/request-limit.js';
import { mcpRoutes } from './features/mcp/routes.js';
import { createWaits, type Waits } from './features/mcp/waits.js';
import { createFindOrganisationName } from './features/organisations/names.js';
import { applicationRoutes, applicationSecretRoutes } from './features/oauth-applications/routes.js';
import { createApplicationService } from './features/oauth-applications/service.js';
import { consentRoutes } from './features/oauth-consent/routes.js';
import { toNetwork } from './network.js';
import { createConsentService } from './features/oauth-consent/service.js';
import { createDocumentFetch, type FetchDocument } from './features/oauth/document-fetch.js';
import { createRegistrationLimit } from './features/oauth/registration-limit.js';
import {
  createMount,
  oauthMetadataRoutes,
  oauthRoutes,
  registrationRoutes,
} from './features/oauth/routes.js';
import { createConnectedAppService } from './features/connected-apps/service.js';
import { adminConnectedAppRoutes, ownConnectedAppRoutes } from './features/connected-apps/routes.js';
import type { ExchangeFor } from './features/oauth/token-exchange.js';
import { createOauth } from './features/oauth/service.js';
import { registerOutboxMetrics } from './features/outgoing-mails/metrics.js';
import { adminTokenRoutes, ownTokenRoutes, scopeRoutes } from './features/personal-access-tokens/routes.js';
import { memberSessionRoutes, ownSessionRoutes } from './features/open-sessions/routes.js';
import { createOpenSessions } from './features/open-sessions/service.js';
import { ownPasswordRoutes } from './features/own-password/routes.js';
import { createTokenService } from './features/personal-access-tokens/service.js';
import { serviceCredentialRoutes } from './features/service-credentials/routes.js';
import { createServiceCredentials } from './features/service-credentials/service.js';
import { loginRoutes, logoutRoutes } from './features/sessions/routes.js';
import { signInPageRoutes } from './features/sign-in-pages/routes.js';
import { signInSettingsRoutes } from './features/sign-in-settings/routes.js';
import { createSignInSettings } from './features/sign-in-settings/service.js';
import { signingKeyRoutes } from './features/signing-keys/routes.js';
import { createSigningKeys, type SigningKeys } from './features/signing-keys/service.js';
import { createToolCallRecorder } from './features/tool-activity/recorder.js';
import { createReuseReaction } from './features/token-alerts/reuse.js';
import { ownCredentialRoutes, tokenDetailsRoutes } from './features/token-details/routes.js';
import { createTokenDetailsService } from './features/token-details/service.js';
import { createLeaksJob } from './features/token-leaks/leaks.job.js';
import { type CountLeakReport, createLeakReportLimit } from './features/token-leaks/report-limit.js';
import { leakReportRoutes } from './features/token-leaks/routes.js';
import { createReportLeaks, type ReportLeaks } from './features/token-leaks/service.js';
import { tokenPolicyRoutes } from './features/token-policy/routes.js';
import { createTokenPolicyService } from './features/token-policy/service.js';
import { tokenRotationRoutes } from './features/token-rotation/routes.js';
import { createTokenRotation } from './features/token-rotation/service.js';
import { createTokenSearch } from './features/token-search/service.js';
import { toolActivityRoutes } from './features/tool-activity/routes.js';
import { createToolActivity } from './features/tool-activity/service.js';
import { ownUserRoutes, userRoutes } from './features/users/routes.js';
import type { Resources } from './resources.js';
import { createSecretBox } from './secret-box.js';

const VERSION = '0.1.0';

export interface IdentityDeps {
  readonly config: Pick<
    IdentityConfig,
    | 'APP_URL'
    | 'CONFIG_CLIENT_ID'
    | 'AUDIT_DAYS'
    | 'CRAWL_URL'
    | 'ENCRYPTION_KEYS'
    | 'MAIL_TOOL_TIMEOUT_MS'
    | 'MAIL_URL'
    | 'MCP_REQUESTS_PER_MINUTE'
    | 'MCP_SCOPES'
    | 'MCP_SERVER_ALLOWED_TARGETS'
    | 'MCP_SERVER_CALLS'
    | 'MCP_SERVER_REFRESH_MS'
    | 'MCP_SERVER_TIMEOUT_MS'
    | 'OAUTH_CLIENT_HOSTS'
    | 'OAUTH_REGISTRATION'
    | 'PUBLIC_URL'
    | 'SERVICE_CLIENTS'
    | 'TOKEN_ISSUER'
    | 'TOOL_CALL_DAYS'
    | 'TOOL_CONNECTIONS'
    | 'TOOL_TIMEOUT_MS'
    | 'TOOL_WAITS'
    | 'TOOL_WAITS_PER_CREDENTIAL'
    | 'TOOL_WAIT_MAX_MS'
    | 'TRUST_PROXY'
  >;
  readonly resources: Resources;
  readonly shutdown: Shutdown;
  readonly clock: Clock;
  /** Replaces the fetch of clients' documents. Tests set it. */
  readonly fetchDocument?: FetchDocument;
  /** The built files of the console; undefined in tests of the API alone. */
  readonly consoleFolder?: string;
}

async function createIdentityApp({ config, resources }: IdentityDeps): Promise<ServiceApp> {
  const service = await createApp({
    service: 'identity',
    title: 'Identity',
    description: 'Organisations, members, sessions, personal access tokens and the remote tool endpoint.',
    version: VERSION,
    errors: standardErrors,
    log: resources.log,
    trustProxy: config.TRUST_PROXY,
  });
  service.health.checks.set('database', () => resources.livenessPool.query('select 1'));
  return service;
}

/** Starts the background work and registers its shutdown. */
async function startBackground(deps: IdentityDeps) {
  const { config, resources, shutdown, clock } = deps;
  const { pool, prisma, log } = resources;
  const lastUsed = createLastUsed({ pool, write: recordTokenUses, clock, log });
  const accessTokensUsed = createLastUsed({ pool, write: recordAccessTokenUses, clock, log });
  const refusedUses = createRefusedUses({ pool, clock, log });
  const toolCalls = createToolCallRecorder({ pool, clock, log });
  const expiry = createExpiryJob({
    pool,
    clock,
    log,
    toolCallDays: config.TOOL_CALL_DAYS,
    auditDays: config.AUDIT_DAYS,
  });
  const box = createSecretBox(config.ENCRYPTION_KEYS);
  const keys = createSigningKeys({ prisma, box, clock, issuer: config.TOKEN_ISSUER, log });
  await keys.start();
  lastUsed.start();
  accessTokensUsed.start();
  refusedUses.start();
  toolCalls.start();
  expiry.start();
  shutdown.on('workers', 'signing keys', keys.stop);
  shutdown.on('workers', 'expiry', expiry.stop);
  shutdown.on('flush', 'last-used times', () => Promise.all([lastUsed.stop(), accessTokensUsed.stop()]));
  shutdown.on('flush', 'refused uses', refusedUses.stop);
  shutdown.on('flush', 'tool calls', toolCalls.stop);
  return { lastUsed, accessTokensUsed, refusedUses, toolCalls, keys };
}

/** Opens the clients of the services that remote tools call. */
function openServiceClients({ config, shutdown }: IdentityDeps, exchangeFor: ExchangeFor) {
  const { CRAWL_URL, MAIL_URL, TOOL_CONNECTIONS: connections } = config;
  const crawl =
    CRAWL_URL === undefined
      ? undefined
      : createCrawlClient({
          baseUrl: CRAWL_URL,
          timeoutMs: config.TOOL_TIMEOUT_MS,
          connections,
          exchangeToken: exchangeFor('crawl'),
        });
  const mail =
    MAIL_URL === undefined
      ? undefined
      : createMailClient({
          baseUrl: MAIL_URL,
          timeoutMs: config.MAIL_TOOL_TIMEOUT_MS,
          connections,
          exchangeToken: exchangeFor('mail'),
        });
  shutdown.on('close', 'service clients', () => Promise.all([crawl?.close(), mail?.close()]));
  return { crawl, mail };
}

/** Creates the limiter of waiting tool calls. Waits end as soon as shutdown begins, so that they don't delay it. */
function openWaits({ config, shutdown }: IdentityDeps): Waits {
  const waits = createWaits({
    maxMs: config.TOOL_WAIT_MAX_MS,
    maxTotal: config.TOOL_WAITS,
    maxPerCredential: config.TOOL_WAITS_PER_CREDENTIAL,
  });
  shutdown.on('unready', 'waiting tools', waits.stop);
  return waits;
}

/** Creates the MCP servers of organisations, and starts to refresh their tools. */
function startMcpServers(
  { config, resources, shutdown, clock }: IdentityDeps,
  parts: Pick<Parameters<typeof createMcpServers>[0], 'versions' | 'signClaims' | 'metrics'>,
) {
  const mcpServers = createMcpServers({
    ...parts,
    settings: {
      allowedTargets: config.MCP_SERVER_ALLOWED_TARGETS,
      timeoutMs: config.MCP_SERVER_TIMEOUT_MS,
      maxCalls: config.MCP_SERVER_CALLS,
      refreshMs: config.MCP_SERVER_REFRESH_MS,
      version: VERSION,
    },
    resources,
    box: createSecretBox(config.ENCRYPTION_KEYS),
    clock,
    log: resources.log,
  });
  mcpServers.refreshJob.start();
  shutdown.on('workers', 'MCP servers', mcpServers.refreshJob.stop);
  shutdown.on('close', 'MCP servers', mcpServers.close);
  return mcpServers;
}

/** Opens the fetch of clients' documents, which reaches public addresses only. */
function openDocumentFetch({ fetchDocument, shutdown }: IdentityDeps): FetchDocument {
  if (fetchDocument) return fetchDocument;
  const policy = createTargetPolicy({ allowed: [], denied: [], ports: [443] });
  const documents = createDocumentFetch({ resolve: createHostResolver(), policy });
  shutdown.on('close', 'document fetch', documents.close);
  return documents.fetch;
}

/** The requests of one network to the authorization server, at each replica: an organisation may share an address. */
const OAUTH_REQUESTS_PER_MINUTE = 600;

/** Creates the authorization server and registers its routes. */
function registerOauth(app: App, deps: IdentityDeps, keys: SigningKeys) {
  const { config, resources, clock } = deps;
  const { pool, prisma, log } = resources;
  const oauth = createOauth({
    pool,
    prisma,
    keys,
    signJwt: app.signCredential,
    checkSignature: app.checkSignature,
    publicUrl: config.PUBLIC_URL,
    encryptionKeys: config.ENCRYPTION_KEYS,
    clientHosts: config.OAUTH_CLIENT_HOSTS,
    fetchDocument: openDocumentFetch(deps),
    isRegistrationOpen: config.OAUTH_REGISTRATION === 'on',
    clock,
    log,
  });
  const { provider, resources: protectedResources } = oauth;
  const mount = createMount(provider, config.PUBLIC_URL);
  const countRequest = createRequestLimit(OAUTH_REQUESTS_PER_MINUTE, clock);
  oauthRoutes(app, mount, (address) => {
    countRequest(toNetwork(address, { ipv4: 32, ipv6: 64 }));
  });
  oauthMetadataRoutes(app, mount);
  if (config.OAUTH_REGISTRATION === 'on') registrationRoutes(app, mount, createRegistrationLimit(pool));
  const service = createConsentService({ provider, pool, prisma, resources: protectedResources, clock });
  consentRoutes(app, { provider, service });
  return oauth;
}

/** Builds the service without a listener: tests drive it directly, and `main.ts` serves it. */
export async function buildIdentity(deps: IdentityDeps): Promise<ServiceApp> {
  const { config, resources, clock, consoleFolder } = deps;
  const { pool, prisma } = resources;
  const { lastUsed, accessTokensUsed, refusedUses, toolCalls, keys } = await startBackground(deps);
  const service = await createIdentityApp(deps);
  const { app, metrics } = service;
  const versions = createCatalogueVersions();
  registerOutboxMetrics(metrics, { prisma, clock, log: resources.log });
  await app.register(authPlugin, {
    issuer: config.TOKEN_ISSUER,
    audience: 'identity',
    keySet: keys.keySet,
    liveness: createDatabaseLiveness({
      pool: resources.livenessPool,
      lastUsed,
      accessTokensUsed,
      refusedUses,
      clock,
      catalogueVersions: versions,
    }),
    clock,
    clockToleranceMs: 0,
    publicUrl: config.PUBLIC_URL,
  });
  const signJwt = app.signCredential;
  const tokenPolicy = createTokenPolicyService({ pool, prisma, clock });
  const getPolicy = (orgId: string) => tokenPolicy.get({ orgId });
  const tokens = createTokenService({
    pool,
    keys,
    signJwt,
    clock,
    getPolicy,
    defaultScopes: config.MCP_SCOPES,
  });
  const tokenDetails = createTokenDetailsService({ pool, prisma, clock });
  const tokenSearch = createTokenSearch({ pool, clock, historyDays: config.AUDIT_DAYS });
  const tokenRotation = createTokenRotation({ pool, keys, signJwt, clock, getPolicy });
  const oauth = registerOauth(app, deps, keys);
  const signClaims = (claims: object) => keys.signClaims(claims, signJwt);
  const mcpServers = startMcpServers(deps, { versions, signClaims, metrics });
  const accounts = createAccounts({ ...deps, keys, signJwt });
  const { outbox } = accounts;
  refusedUses.onReuse(createReuseReaction({ pool, prisma, outbox, clock, getPolicy }));
  const leaks = createLeaksJob({ pool, prisma, outbox, clock, log: resources.log });
  leaks.start();
  deps.shutdown.on('workers', 'leaked tokens', leaks.stop);
  registerRoutes(app, {
    mcpServers,
    applications: createApplicationService({ prisma, clock }),
    connectedApps: createConnectedAppService({ pool, prisma, clock }),
    ...accounts,
    reportLeaks: createReportLeaks({ pool, clock, wake: leaks.wake }),
    countLeakReport: createLeakReportLimit(pool),
    tokens,
    tokenDetails,
    tokenPolicy,
    tokenSearch,
    tokenRotation,
    keys,
    openSessions: createOpenSessions({ prisma, clock }),
    signInSettings: createSignInSettings({ prisma, clock }),
    activity: createToolActivity(pool),
    audit: createAuditService(prisma),
    issueServiceToken: createServiceCredentials({
      prisma,
      clients: config.SERVICE_CLIENTS,
      configClientId: config.CONFIG_CLIENT_ID,
      keys,
      signJwt,
      clock,
    }),
  });
  const tools = createTools({
    findOrganisationName: createFindOrganisationName(pool),
    tokens,
    tokenSearch,
    tokenRotation,
    ...openServiceClients(deps, oauth.exchangeFor),
    mailTimeoutMs: config.MAIL_TOOL_TIMEOUT_MS,
    waits: openWaits(deps),
  });
  const { record: recordCall } = toolCalls;
  const endpoint = createToolEndpoint({
    tools,
    recordCall,
    findCatalogue: mcpServers.findCatalogue,
    log: resources.log,
    version: VERSION,
  });
  const countRequest = createRequestLimit(config.MCP_REQUESTS_PER_MINUTE, clock);
  if (consoleFolder !== undefined) await consoleRoutes(app, consoleFolder);
  mcpRoutes(app, { endpoint, countRequest, publicUrl: config.PUBLIC_URL, log: resources.log });
  return service;
}

interface Services extends ReturnType<typeof createAccounts> {
  readonly reportLeaks: ReportLeaks;
  readonly countLeakReport: CountLeakReport;
  readonly applications: ReturnType<typeof createApplicationService>;
  readonly mcpServers: Pick<ReturnType<typeof createMcpServers>, 'service' | 'decisions' | 'checks'>;
  readonly connectedApps: ReturnType<typeof createConnectedAppService>;
  readonly tokens: ReturnType<typeof createTokenService>;
  readonly tokenDetails: ReturnType<typeof createTokenDetailsService>;
  readonly tokenPolicy: ReturnType<typeof createTokenPolicyService>;
  readonly tokenSearch: ReturnType<typeof createTokenSearch>;
  readonly tokenRotation: ReturnType<typeof createTokenRotation>;
  readonly activity: ReturnType<typeof createToolActivity>;
  readonly audit: ReturnType<typeof createAuditService>;
  readonly openSessions: ReturnType<typeof createOpenSessions>;
  readonly signInSettings: ReturnType<typeof createSignInSettings>;
  readonly keys: Parameters<typeof signingKeyRoutes>[1];
  readonly issueServiceToken: Parameters<typeof serviceCredentialRoutes>[1];
}

/** Registers all routes, grouped by the authority that they need. */
function registerRoutes(app: App, services: Services): void {
  // Everyone
  loginRoutes(app, services.sessions);
  accountRequestRoutes(app, services.flows);
  accountLinkRoutes(app, services.flows);
  signInPageRoutes(app, services);
  signingKeyRoutes(app, services.keys);
  leakReportRoutes(app, services.reportLeaks, services.countLeakReport);
  // Members
  logoutRoutes(app, services.sessions);
  ownSessionRoutes(app, services.openSessions);
  ownPasswordRoutes(app, services.changeOwnPassword);
  ownUserRoutes(app);
  ownTokenRoutes(app, services.tokens, services.tokenSearch);
  tokenDetailsRoutes(app, services.tokenDetails);
  ownCredentialRoutes(app, services.tokenDetails, services.tokens);
  tokenRotationRoutes(app, services.tokenRotation);
  toolActivityRoutes(app, services.activity);
  scopeRoutes(app, services.tokens);
  ownConnectedAppRoutes(app, services.connectedApps);
  // Administrators
  userRoutes(app, services.users);
  memberSessionRoutes(app, services.openSessions);
  adminTokenRoutes(app, services.tokens, services.tokenSearch);
  adminConnectedAppRoutes(app, services.connectedApps);
  applicationRoutes(app, services.applications);
  applicationSecretRoutes(app, services.applications);
  tokenPolicyRoutes(app, services.tokenPolicy);
  auditRoutes(app, services.audit);
  configurationRoutes(app, services.configuration);
  signInSettingsRoutes(app, services.signInSettings);
  serverRoutes(app, services.mcpServers.service);
  serverCheckRoutes(app, services.mcpServers.checks);
  mountedToolRoutes(app, services.mcpServers.decisions);
  // Services of the platform. Only these routes accept the form bodies that OAuth prescribes.
  internalConfigurationRoutes(app, services.configuration);
  app.register(async (scope: App) => {
    await scope.register(formbody);
    serviceCredentialRoutes(scope, services.issueServiceToken);
    introspectionRoutes(scope, createIntrospect(app.verifyBearer));
  });
}
