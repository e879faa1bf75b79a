import { AppError, createPeriodicTask } from '@platform/service-kit';
import { claimDueServers, releaseServer } from './claim.sql.js';
import { LISTINGS } from './upstream/listing.js';
import { refreshClaimedServer, type RefreshContext } from './refresh.js';
import { UpstreamFault } from '../../base/egress/faults.js';

const POLL_MS = 2_000;

/** Refreshes the servers that are due, each once across the replicas, off the path of every request. */
export function createRefreshJob(ctx: RefreshContext) {
  const { pool, clock, refreshMs, log } = ctx;
  const running = new Set<Promise<void>>();

  async function claim(): Promise<void> {
    const now = clock();
    const places = LISTINGS.total - running.size;
    if (places === 0) return;
    for (const server of await claimDueServers(pool, { now: new Date(now), refreshMs, limit: places })) {
      const refreshing = refreshClaimedServer(ctx, server)
        .then(() => undefined)
        .catch(async (error: unknown) => {
          // Its organisation has enough listings in progress.
          if (error instanceof AppError) await releaseServer(pool, server.id, new Date(clock()));
          // The refresh has recorded what the server did.
          else if (!(error instanceof UpstreamFault))
            log.warn({ err: error, mcpServer: server.id }, 'failed to store the tools of an MCP server');
        })
        .catch((error: unknown) => {
          log.warn({ err: error, mcpServer: server.id }, 'failed to release an MCP server');
        })
        .finally(() => running.delete(refreshing));
      running.add(refreshing);
    }
  }

  const claiming = createPeriodicTask({
    intervalMs: POLL_MS,
    run: claim,
    onError: (error) => {
      log.warn({ err: error }, 'failed to look for MCP servers to refresh; retrying');
    },
  });
  return {
    start: claiming.start,
    async stop() {
      await claiming.stop();
      await Promise.all(running);
    },
  };
}
