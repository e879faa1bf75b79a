import {
  type App,
  type Clock,
  createEgress,
  createHostResolver,
  createTokenBuckets,
  type Logger,
  type SecretBox,
  type Shutdown,
  type Target,
} from '@platform/service-kit';
import type { Registry } from 'prom-client';
import type { StartJob } from '../../base/start-job.js';
import type { Outbox } from '../../mails/outbox/outbox.js';
import type { Resources } from '../../resources.js';
import type { FindCatalogue } from '../endpoint/endpoint.js';
import { createCatalogues } from './catalogues.js';
import { registerServerMetrics } from './metrics.js';
import { createFindClaims } from './person-claims.js';
import { createRefreshJob } from './refresh.job.js';
import {
  accountCredentialRoutes,
  ownConnectionRoutes,
  ownCredentialRoutes,
  signInCallbackRoutes,
} from './own/routes.js';
import { createClientIdentity } from './own/sign-in.js';
import { ANSWER_MS, createAuthorizationFetch, MAX_DOCUMENT_BYTES } from './upstream/oauth/fetch.js';
import { createRenewals } from './upstream/oauth/renewals.js';
import { createRevocations } from './upstream/oauth/revocations.job.js';
import { MAX_ANSWER_BYTES } from './schemas.js';
import { serverCheckRoutes, serverRoutes } from './routes.js';
import type { ServerContext } from './service.js';
import { mountedToolRoutes } from './tool.routes.js';
import { createUpstreamCalls, getCallShares } from './upstream/calls.js';
import { createCircuits } from './upstream/circuit.js';
import { createConnections } from './upstream/connections.js';
import { createListings } from './upstream/listing.js';
import { createCredentialHeaders, type SignClaims } from './upstream/credentials.js';

/**
 * An answer of half a megabyte that is refused costs milliseconds of a core, which everybody shares: a limit by
 * organisation keeps a script that tests a hostile server all the time from slowing others down.
 */
const CHECKS_PER_MINUTE = 60;
/** Each asks somebody else's servers for documents, and may register there. */
const SIGN_INS_PER_MINUTE = 20;
/** Connections to one server beyond its calls, for lists and for notifications of cancelled calls. */
const SPARE_CONNECTIONS = 16;
/** A response that a server is still sending this long after the call's deadline is broken off. */
const GRACE_MS = 1_000;
/** Listing tools takes longer than this only at a server that is in trouble. */
const MAX_LIST_TIMEOUT_MS = 10_000;

export interface McpServerSettings {
  readonly allowedTargets: readonly Target[];
  /** The longest duration of a call. */
  readonly timeoutMs: number;
  readonly maxCalls: number;
  readonly refreshMs: number;
  /** The version that the platform reports to servers. */
  readonly version: string;
  /** The URL of the console, where people connect to servers. */
  readonly consoleUrl: string;
}

export interface McpServerDeps {
  readonly settings: McpServerSettings;
  readonly pool: Resources['pool'];
  readonly prisma: Resources['prisma'];
  readonly box: SecretBox;
  readonly outbox: Outbox;
  readonly signClaims: SignClaims;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: Registry;
  readonly startJob: StartJob;
  readonly shutdown: Shutdown;
}

/** Opens the connections to servers, over which their tools are listed and called. */
function openConnections({ settings, box, signClaims, clock, log, shutdown }: McpServerDeps) {
  const { timeoutMs, version } = settings;
  const limits = {
    maxAnswerBytes: MAX_ANSWER_BYTES,
    maxConnections: settings.maxCalls + SPARE_CONNECTIONS,
    timeoutMs,
  };
  const egress = createEgress(settings.allowedTargets, limits, createHostResolver());
  const connections = createConnections({
    egress,
    createHeaders: createCredentialHeaders({ box, signClaims, clock }),
    version,
    timeoutMs: Math.min(timeoutMs, MAX_LIST_TIMEOUT_MS),
    maxAnswerMs: timeoutMs + GRACE_MS,
    log,
  });
  shutdown.on('close', 'MCP servers', connections.close);
  return { egress, connections };
}

/** Opens the way to the authorization servers of servers, which is as narrow as that to the servers. */
function openAuthorizationFetch({ settings, shutdown }: McpServerDeps) {
  const limits = { maxAnswerBytes: MAX_DOCUMENT_BYTES, timeoutMs: ANSWER_MS };
  const egress = createEgress(settings.allowedTargets, limits, createHostResolver());
  shutdown.on('close', 'authorization servers', () => egress.agent.destroy());
  return createAuthorizationFetch(egress);
}

/**
 * Registers the MCP servers that administrators mount, and starts to refresh their tools.
 *
 * @returns the function with which `/mcp` finds the mounted tools of an organisation.
 */
export function registerMcpServers(app: App, deps: McpServerDeps): FindCatalogue {
  const { settings, pool, prisma, box, outbox, clock, log } = deps;
  const { timeoutMs, refreshMs } = settings;
  const { egress, connections } = openConnections(deps);
  const listings = createListings({ connections, timeoutMs: Math.min(timeoutMs, MAX_LIST_TIMEOUT_MS) });
  const { consoleUrl } = settings;
  const fetchFn = openAuthorizationFetch(deps);
  const circuits = createCircuits(clock);
  const revocations = createRevocations({ pool, box, clock, fetchFn, circuits, log });
  deps.startJob('revocations at MCP servers', revocations);
  const { perServer } = getCallShares(settings.maxCalls);
  const maxWaiting = { total: settings.maxCalls, perKey: Math.max(1, Math.floor(perServer / 2)) };
  const renewals = createRenewals({ pool, box, clock, fetchFn, circuits, revocations, maxWaiting, log });
  const own = { pool, prisma, clock, renewals, outbox, consoleUrl };
  const refresh = { ...own, listings, refreshMs, log };
  const job = createRefreshJob(refresh);
  deps.startJob('MCP servers', job);
  const ctx: ServerContext = { prisma, box, egress, outbox, clock };
  serverRoutes(app, ctx);
  const countCheck = createTokenBuckets(
    CHECKS_PER_MINUTE,
    clock,
    "Too many tests and refreshes of this organisation's MCP servers",
  );
  const checks = { ...refresh, countCheck };
  serverCheckRoutes(app, checks);
  const countSignIn = createTokenBuckets(SIGN_INS_PER_MINUTE, clock, 'Too many sign-ins of this account');
  const signIns = {
    ...ctx,
    countSignIn,
    fetchFn,
    identity: createClientIdentity(consoleUrl),
    revocations,
    log,
  };
  ownCredentialRoutes(app, ctx, revocations);
  ownConnectionRoutes(app, signIns, checks);
  accountCredentialRoutes(app, ctx, revocations);
  signInCallbackRoutes(app, signIns);
  mountedToolRoutes(app, ctx);
  const callUpstream = createUpstreamCalls({
    ...own,
    connections,
    findClaims: createFindClaims(pool),
    timeoutMs,
    maxCalls: settings.maxCalls,
    metrics: registerServerMetrics(deps.metrics),
  });
  return createCatalogues({ pool, callUpstream, clock });
}
