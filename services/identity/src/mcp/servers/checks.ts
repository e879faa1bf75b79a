import type { UserPrincipal } from '@platform/auth';
import type { Clock } from '@platform/service-kit';
import type { Prisma } from '../../resources.js';
import { type Caller, toActor } from '../../base/caller/actor.js';
import { createRequestLimit } from '../../base/rate-limits/request-limit.js';
import { describeServer } from './documents.js';
import { refreshFailed, serverNotFound } from './errors.js';
import { findServer } from './queries.js';
import type { Refresher } from './refresh.js';
import type { Refreshed, TestedServer } from './schemas.js';
import type { Listings } from './upstream/listing.js';
import { UpstreamFault } from '../../base/egress/faults.js';

/**
 * An answer of half a megabyte that is refused costs milliseconds of a core, which everybody shares: a limit by
 * organisation keeps a script that tests a hostile server all the time from slowing others down.
 */
const CHECKS_PER_MINUTE = 60;

export function createServerChecks(deps: {
  readonly prisma: Prisma;
  readonly listings: Listings;
  readonly refresher: Refresher;
  readonly clock: Clock;
}) {
  const { prisma, listings, refresher, clock } = deps;
  const countCheck = createRequestLimit(
    CHECKS_PER_MINUTE,
    clock,
    "Too many tests and refreshes of this organisation's MCP servers",
  );

  async function requireServer(orgId: string, id: string) {
    const server = await findServer(prisma, orgId, id);
    if (!server) throw serverNotFound();
    return server;
  }

  return {
    /** Connects to a server and asks for its tools; nothing is stored. @throws AppError 404, 429. */
    async test({ orgId }: UserPrincipal, id: string): Promise<TestedServer> {
      countCheck(orgId);
      const server = await requireServer(orgId, id);
      const startedAt = performance.now();
      const getDuration = () => Math.round(performance.now() - startedAt);
      try {
        const { definitions, leftOut, protocolVersion } = await listings.withPermit(server, () =>
          listings.list(server),
        );
        const tools = definitions.length;
        return {
          isUsable: true,
          fault: null,
          code: null,
          protocolVersion,
          tools,
          leftOut: [...leftOut],
          durationMs: getDuration(),
        };
      } catch (error) {
        if (!(error instanceof UpstreamFault)) throw error;
        const { kind: fault, code = null } = error;
        return {
          isUsable: false,
          fault,
          code,
          protocolVersion: null,
          tools: null,
          leftOut: [],
          durationMs: getDuration(),
        };
      }
    },

    /** Refreshes the pinned catalogue now. @throws AppError 404, 429; 502 REFRESH_FAILED. */
    async refresh(caller: Caller, id: string): Promise<Refreshed> {
      const { orgId } = caller;
      countCheck(orgId);
      const server = await requireServer(orgId, id);
      const changes = await refresher.refresh(server, toActor(caller)).catch((error: unknown) => {
        throw error instanceof UpstreamFault ? refreshFailed(error) : error;
      });
      const row = await requireServer(orgId, id);
      return { server: await describeServer(prisma, row), changes };
    },
  };
}

export type ServerChecks = ReturnType<typeof createServerChecks>;
