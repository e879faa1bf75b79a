import type { UserPrincipal } from '@platform/auth';
import { createTokenBuckets, type Clock } from '@platform/service-kit';
import type { Prisma } from '../../prisma.js';
import { type Caller, toActor } from '../../base/caller/actor.js';
import { describeServer } from './documents.js';
import { refreshFailed, serverNotFound } from './errors.js';
import type { Listers } from './own/listers.js';
import { notConnected } from './own/errors.js';
import { findServer, type ServerRow } from './queries.js';
import type { Refresher } from './refresh.js';
import type { Refreshed, TestedServer } from './schemas.js';
import type { Subject } from './upstream/credentials.js';
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
  readonly listers: Listers;
  readonly refresher: Refresher;
  readonly clock: Clock;
}) {
  const { prisma, listings, listers, refresher, clock } = deps;
  const countCheck = createTokenBuckets(
    CHECKS_PER_MINUTE,
    clock,
    "Too many tests and refreshes of this organisation's MCP servers",
  );

  async function requireServer(orgId: string, id: string) {
    const server = await findServer(prisma, orgId, id);
    if (!server) throw serverNotFound();
    return server;
  }

  async function test(
    server: ServerRow,
    findSubject: () => Promise<Subject | undefined>,
  ): Promise<TestedServer> {
    const startedAt = performance.now();
    const getDuration = () => Math.round(performance.now() - startedAt);
    try {
      const { definitions, leftOut, protocolVersion } = await listings.withPermit(server, async () =>
        listings.list(server, await findSubject()),
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
  }

  return {
    /** Connects to a server and asks for its tools; nothing is stored. @throws AppError 404, 429. */
    async test({ orgId, userId }: UserPrincipal, id: string): Promise<TestedServer> {
      countCheck(orgId);
      const server = await requireServer(orgId, id);
      return test(server, async () => (await listers.find(server, [userId])).subject);
    },

    /** Does so with the caller's own credential. @throws AppError 404, 429. */
    async testOwn({ orgId, userId }: UserPrincipal, id: string): Promise<TestedServer> {
      countCheck(orgId);
      const server = await findServer(prisma, orgId, id);
      if (!server) throw notConnected();
      return test(server, async () => {
        const subject = await listers.toSubject(server, userId);
        if (!subject) throw notConnected();
        return subject;
      });
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
