import {
  type App,
  type Clock,
  createEgress,
  createHostResolver,
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
import { createServerChecks } from './checks.js';
import { registerServerMetrics } from './metrics.js';
import { createFindClaims } from './person-claims.js';
import { createRefresher } from './refresh.js';
import { createRefreshJob } from './refresh.job.js';
import { createListers } from './own/listers.js';
import { accountCredentialRoutes, ownCredentialRoutes, signInCallbackRoutes } from './own/routes.js';
import { createClientIdentity, createSignIns } from './own/sign-in.js';
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
  const listers = createListers({ prisma, own });
  const refresher = createRefresher({ prisma, listings, listers, clock, refreshMs, log });
  const job = createRefreshJob({ pool, refresher, clock, refreshMs, log });
  deps.startJob('MCP servers', job);
  const ctx: ServerContext = { prisma, box, egress, outbox, clock };
  serverRoutes(app, ctx);
  const checks = createServerChecks({ prisma, listings, listers, refresher, clock });
  serverCheckRoutes(app, checks);
  const identity = createClientIdentity(consoleUrl);
  const signIns = createSignIns({
    prisma,
    box,
    clock,
    fetchFn,
    identity,
    credentials: ctx,
    revocations,
    log,
  });
  ownCredentialRoutes(app, ctx, { signIns, checks, revocations });
  accountCredentialRoutes(app, ctx, revocations);
  signInCallbackRoutes(app, { ...signIns, identity });
  mountedToolRoutes(app, ctx);
  const callUpstream = createUpstreamCalls({
    connections,
    findClaims: createFindClaims(pool),
    own,
    clock,
    timeoutMs,
    maxCalls: settings.maxCalls,
    metrics: registerServerMetrics(deps.metrics),
  });
  return createCatalogues({ pool, callUpstream, clock });
}
