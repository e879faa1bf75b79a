import type { Logger } from '@platform/service-kit';
import type { Transaction } from '../../prisma.js';
import { type Actor, platformActor } from '../../base/caller/actor.js';
import { insertAuditEntry } from '../../audit/record.sql.js';
import type { PinnedDefinition } from './definition.js';
import { findLister } from './own/listers.js';
import { beginRefresh, bumpCatalogue, findServer, lockServer, recordRefresh } from './queries.js';
import type { ClaimedServer } from './claim.sql.js';
import { findToolHashes, upsertOffered, withdrawTools } from './tool.queries.js';
import type { Listing, Listings } from './upstream/listing.js';
import type { OwnCredentialContext } from './upstream/own-credentials.js';
import { toUpstreamFault } from '../../base/egress/faults.js';

/** The number of definitions that became new, changed or withdrawn. */
export interface CatalogueChanges {
  readonly new: number;
  readonly changed: number;
  readonly withdrawn: number;
}

/** Stores what a server offers. Whatever differs from what was approved is out of effect until it is approved, too. */
async function storeListing(
  tx: Transaction,
  server: ClaimedServer,
  { definitions }: Listing,
): Promise<CatalogueChanges> {
  const stored = await findToolHashes(tx, server.id);
  const byName = new Map(stored.map((row) => [row.name, row]));
  const differing = definitions.filter(({ name, hash }) => byName.get(name)?.offeredHash !== hash);
  const offered = new Set(definitions.map(({ name }) => name));
  const withdrawn = stored.filter(({ name, offeredHash }) => offeredHash !== null && !offered.has(name));
  if (differing.length > 0) await upsertOffered(tx, server, differing);
  // oxfmt-ignore
  if (withdrawn.length > 0) await withdrawTools(tx, server.id, withdrawn.map(({ name }) => name));
  const isKnown = ({ name }: PinnedDefinition) => (byName.get(name)?.approvedHash ?? null) !== null;
  return {
    new: differing.filter((definition) => !isKnown(definition)).length,
    changed: differing.filter(isKnown).length,
    withdrawn: withdrawn.length,
  };
}

export interface RefreshContext extends OwnCredentialContext {
  readonly listings: Listings;
  readonly refreshMs: number;
  readonly log: Logger;
}

async function storeRefreshed(
  { clock, prisma, refreshMs }: RefreshContext,
  server: ClaimedServer,
  { listerId, ...listing }: Listing & Pick<ClaimedServer, 'listerId'>,
  actor: Actor,
): Promise<CatalogueChanges> {
  const at = new Date(clock());
  return prisma.$transaction(async (tx) => {
    await lockServer(tx, server.id);
    const current = await findServer(tx, server.orgId, server.id);
    // It was removed, or leads elsewhere, while it was asked.
    if (current?.revision !== server.revision) return { new: 0, changed: 0, withdrawn: 0 };
    const changes = await storeListing(tx, server, listing);
    await recordRefresh(tx, server, {
      refreshedAt: at,
      refreshFault: null,
      protocolVersion: listing.protocolVersion,
      leftOut: JSON.stringify(listing.leftOut),
      listerId,
      nextRefreshAt: new Date(at.getTime() + refreshMs),
    });
    if (Object.values(changes).every((count) => count === 0)) return changes;
    await bumpCatalogue(tx, server.orgId);
    // oxfmt-ignore
    await insertAuditEntry(tx, {
        orgId: server.orgId,
        action: 'mcp_server.tools_offered',
        actor,
        subjectId: server.id,
        detail: { server: server.name, ...Object.fromEntries(Object.entries(changes).map(([key, count]) => [key, String(count)])) },
        at,
      });
    return changes;
  });
}

async function recordFault(
  { clock, refreshMs, prisma }: RefreshContext,
  server: ClaimedServer,
  fault: string,
  actor: Actor,
): Promise<void> {
  const at = new Date(clock());
  const result = { refreshFault: fault, nextRefreshAt: new Date(at.getTime() + refreshMs) };
  await prisma.$transaction(async (tx) => {
    const { count } = await recordRefresh(tx, server, result, { wasReached: true });
    if (count === 0) await recordRefresh(tx, server, result);
    else
      await insertAuditEntry(tx, {
        orgId: server.orgId,
        action: 'mcp_server.unreachable',
        actor,
        subjectId: server.id,
        detail: { server: server.name, fault },
        at,
      });
  });
}

async function listAndStore(
  ctx: RefreshContext,
  server: ClaimedServer,
  actor: Actor,
): Promise<CatalogueChanges> {
  let listing: Listing & Pick<ClaimedServer, 'listerId'>;
  try {
    // oxfmt-ignore
    const { subject, listerId } = await findLister(ctx, server, [actor.actorId, server.listerId].filter((id) => id !== null));
    listing = { ...(await ctx.listings.list(server, subject)), listerId };
  } catch (error) {
    const fault = toUpstreamFault(error);
    const { id, orgId } = server;
    ctx.log.info({ err: fault, mcpServer: id, orgId }, 'failed to refresh the tools of an MCP server');
    await recordFault(ctx, server, fault.kind, actor);
    throw fault;
  }
  return storeRefreshed(ctx, server, listing, actor);
}

/**
 * Refreshes the pinned catalogue of a server that the job has claimed. A failure is recorded, and changes nothing
 * about its tools.
 *
 * @throws UpstreamFault; AppError 429.
 */
export function refreshClaimedServer(ctx: RefreshContext, server: ClaimedServer): Promise<CatalogueChanges> {
  return ctx.listings.withPermit(server, () => listAndStore(ctx, server, platformActor));
}

/** Refreshes the pinned catalogue of a server for an administrator. @throws UpstreamFault; AppError 429. */
export function refreshServer(
  ctx: RefreshContext,
  server: ClaimedServer,
  actor: Actor,
): Promise<CatalogueChanges> {
  return ctx.listings.withPermit(server, async () => {
    await beginRefresh(ctx.prisma, server.id);
    return listAndStore(ctx, server, actor);
  });
}
