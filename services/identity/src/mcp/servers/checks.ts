import type { UserPrincipal } from '@platform/auth';
import type { Prisma } from '../../resources.js';
import { type Caller, toActor } from '../../base/caller/actor.js';
import { toServer } from './documents.js';
import { refreshFailed, serverNotFound } from './errors.js';
import { countTools, findServer } from './queries.js';
import type { Refresher } from './refresh.js';
import type { Refreshed, TestedServer } from './schemas.js';
import type { Listings } from './upstream/listing.js';
import { UpstreamFault } from '../../base/egress/faults.js';

export function createServerChecks(deps: {
  readonly prisma: Prisma;
  readonly listings: Listings;
  readonly refresher: Refresher;
}) {
  const { prisma, listings, refresher } = deps;

  async function requireServer(orgId: string, id: string) {
    const server = await findServer(prisma, orgId, id);
    if (!server) throw serverNotFound();
    return server;
  }

  return {
    /** Connects to a server and asks for its tools; nothing is stored. @throws AppError 404, 429. */
    async test({ orgId }: UserPrincipal, id: string): Promise<TestedServer> {
      const server = await requireServer(orgId, id);
      const startedAt = performance.now();
      const getDuration = () => Math.round(performance.now() - startedAt);
      try {
        const { definitions, protocolVersion } = await listings.withPermit(server, () =>
          listings.list(server),
        );
        const tools = definitions.length;
        return { isUsable: true, fault: null, code: null, protocolVersion, tools, durationMs: getDuration() };
      } catch (error) {
        if (!(error instanceof UpstreamFault)) throw error;
        const { kind: fault, code = null } = error;
        return {
          isUsable: false,
          fault,
          code,
          protocolVersion: null,
          tools: null,
          durationMs: getDuration(),
        };
      }
    },

    /** Refreshes the pinned catalogue now. @throws AppError 404, 429; 502 REFRESH_FAILED. */
    async refresh(caller: Caller, id: string): Promise<Refreshed> {
      const { orgId } = caller;
      const server = await requireServer(orgId, id);
      const changes = await refresher.refresh(server, toActor(caller)).catch((error: unknown) => {
        throw error instanceof UpstreamFault ? refreshFailed(error) : error;
      });
      const row = await requireServer(orgId, id);
      return { server: toServer(row, (await countTools(prisma, [id])).get(id)), changes };
    },
  };
}

export type ServerChecks = ReturnType<typeof createServerChecks>;
