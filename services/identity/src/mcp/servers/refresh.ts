import type { Client, ListToolsResult } from '@modelcontextprotocol/client';
import type { Clock, Logger } from '@platform/service-kit';
import type { Prisma, Transaction } from '../../resources.js';
import { type Actor, platformActor } from '../../base/caller/actor.js';
import { insertAuditEntry } from '../../audit/queries.js';
import { type PinnedDefinition, pinDefinition } from './definition.js';
import { bumpCatalogue, type ClaimedServer, findServer, lockServer, recordRefresh } from './queries.js';
import { findToolHashes, upsertOffered, withdrawTools } from './tool.queries.js';
import type { Connections } from './upstream/connections.js';
import { toUpstreamFault, UpstreamFault } from '../../base/egress/faults.js';

const MAX_TOOLS = 200;
const MAX_DEFINITION_BYTES = 256 * 1_024;
/** The longest refresh, over all pages of the list. */
const DEADLINE_MS = 20_000;
/** Names that can be stored and shown. Most clients accept fewer. */
const nameForm = /^[\x21-\x7e]{1,128}$/;

type ListedTool = ListToolsResult['tools'][number];

/** The number of definitions that became new, changed or withdrawn. */
export interface CatalogueChanges {
  readonly new: number;
  readonly changed: number;
  readonly withdrawn: number;
}

export interface Listing {
  readonly definitions: readonly PinnedDefinition[];
  readonly protocolVersion: string | null;
}

async function listAll(client: Client, timeout: number): Promise<ListedTool[]> {
  const tools: ListedTool[] = [];
  const endsAt = performance.now() + DEADLINE_MS;
  let cursor: string | undefined;
  do {
    const page = await client.listTools(cursor === undefined ? undefined : { cursor }, {
      timeout,
      cacheMode: 'bypass',
    });
    tools.push(...page.tools);
    cursor = page.nextCursor;
    if (tools.length > MAX_TOOLS) throw new UpstreamFault('too_large');
    if (performance.now() > endsAt) throw new UpstreamFault('timeout');
  } while (cursor !== undefined && cursor !== '');
  return tools;
}

/** Asks a server for its tools. @throws UpstreamFault. */
export function listUpstreamTools(
  connections: Connections,
  server: ClaimedServer,
  timeoutMs: number,
): Promise<Listing> {
  return connections.use({ server, subject: undefined, isRepeatable: true }, async (client) => {
    const tools = await listAll(client, timeoutMs);
    const definitions = tools.filter(({ name }) => nameForm.test(name)).map(pinDefinition);
    const bytes = definitions.reduce((sum, { json }) => sum + Buffer.byteLength(json), 0);
    if (bytes > MAX_DEFINITION_BYTES) throw new UpstreamFault('too_large');
    if (new Set(definitions.map(({ name }) => name)).size < definitions.length)
      throw new UpstreamFault('invalid_answer');
    return { definitions, protocolVersion: client.getNegotiatedProtocolVersion() ?? null };
  });
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
  // prettier-ignore
  if (withdrawn.length > 0) await withdrawTools(tx, server.id, withdrawn.map(({ name }) => name));
  const isKnown = ({ name }: PinnedDefinition) => (byName.get(name)?.approvedHash ?? null) !== null;
  return {
    new: differing.filter((definition) => !isKnown(definition)).length,
    changed: differing.filter(isKnown).length,
    withdrawn: withdrawn.length,
  };
}

export function createRefresher(deps: {
  readonly prisma: Prisma;
  readonly connections: Connections;
  readonly clock: Clock;
  readonly timeoutMs: number;
  readonly refreshMs: number;
  readonly log: Pick<Logger, 'info'>;
}) {
  const { prisma, connections, clock, timeoutMs, refreshMs, log } = deps;

  async function store(server: ClaimedServer, listing: Listing, actor: Actor): Promise<CatalogueChanges> {
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
        nextRefreshAt: new Date(at.getTime() + refreshMs),
      });
      if (Object.values(changes).every((count) => count === 0)) return changes;
      await bumpCatalogue(tx, server.orgId);
      // prettier-ignore
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

  return {
    /**
     * Refreshes the pinned catalogue of a server. A failure is recorded, and changes nothing about its tools.
     *
     * @throws UpstreamFault.
     */
    async refresh(server: ClaimedServer, actor: Actor = platformActor): Promise<CatalogueChanges> {
      let listing: Listing;
      try {
        listing = await listUpstreamTools(connections, server, timeoutMs);
      } catch (error) {
        const fault = toUpstreamFault(error);
        const { id, orgId } = server;
        log.info({ err: fault, mcpServer: id, orgId }, 'failed to refresh the tools of an MCP server');
        const nextRefreshAt = new Date(clock() + refreshMs);
        await recordRefresh(prisma, server, { refreshFault: fault.kind, nextRefreshAt });
        throw fault;
      }
      return store(server, listing, actor);
    },
  };
}

export type Refresher = ReturnType<typeof createRefresher>;
