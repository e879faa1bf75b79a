import { type Clock, createHostResolver, type Logger, type Target } from '@platform/service-kit';
import type { Registry } from 'prom-client';
import type { Resources } from '../../resources.js';
import type { SecretBox } from '../../secret-box.js';
import type { CatalogueVersions } from './catalogue-versions.js';
import { createCatalogues } from './catalogues.js';
import { createServerChecks } from './checks.js';
import { registerServerMetrics } from './metrics.js';
import { createRefresher } from './refresh.js';
import { createRefreshJob } from './refresh.job.js';
import { createServerService } from './service.js';
import { createToolDecisions } from './tool-decisions.js';
import { createUpstreamCalls } from './upstream/calls.js';
import { createConnections } from './upstream/connections.js';
import { createCredentialHeaders, type SignClaims } from './upstream/credentials.js';
import { createEgress } from './upstream/egress.js';

/** The largest answer of a server, in bytes. */
const MAX_ANSWER_BYTES = 4 * 1_048_576;
/** What a server still sends this long after a call's deadline is broken off. */
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
}

/** Puts the parts together: what the routes need, what `/mcp` needs, and the background job. */
export function createMcpServers(deps: {
  readonly settings: McpServerSettings;
  readonly resources: Pick<Resources, 'pool' | 'prisma'>;
  readonly versions: CatalogueVersions;
  readonly box: SecretBox;
  readonly signClaims: SignClaims;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: Registry;
}) {
  const { settings, resources, versions, box, signClaims, clock, log } = deps;
  const { prisma, pool } = resources;
  const { timeoutMs, refreshMs, version } = settings;
  const egress = createEgress(
    settings.allowedTargets,
    { maxAnswerBytes: MAX_ANSWER_BYTES, timeoutMs },
    createHostResolver(),
  );
  const createHeaders = createCredentialHeaders({ box, signClaims, clock });
  const listTimeoutMs = Math.min(timeoutMs, MAX_LIST_TIMEOUT_MS);
  const connections = createConnections({
    egress,
    createHeaders,
    version,
    timeoutMs: listTimeoutMs,
    maxAnswerMs: timeoutMs + GRACE_MS,
    log,
  });
  const refresher = createRefresher({ prisma, connections, clock, timeoutMs: listTimeoutMs, refreshMs, log });
  const callUpstream = createUpstreamCalls({
    connections,
    clock,
    timeoutMs,
    maxCalls: settings.maxCalls,
    metrics: registerServerMetrics(deps.metrics),
  });
  return {
    service: createServerService({ prisma, box, egress, clock }),
    decisions: createToolDecisions({ prisma, clock }),
    checks: createServerChecks({ prisma, connections, refresher, timeoutMs: listTimeoutMs }),
    findCatalogue: createCatalogues({ pool, versions, callUpstream }),
    refreshJob: createRefreshJob({ pool, refresher, clock, refreshMs, log }),
    close: connections.close,
  };
}
