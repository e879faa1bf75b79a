import type { Client, ListToolsResult } from '@modelcontextprotocol/client';
import { createKeyedSemaphore } from '@platform/service-kit';
import { UpstreamFault } from '../../../base/egress/faults.js';
import { type PinnedDefinition, pinDefinition } from '../definition.js';
import { tooManyListings } from '../errors.js';
import type { Allowance } from './allowance.js';
import type { Connections, UpstreamServer } from './connections.js';
import { hasInvalidHeaders } from './header-declarations.js';

const MAX_TOOLS = 200;
/** The answers of a listing, with all its pages. */
const MAX_LISTING_BYTES = 512 * 1_024;
const MAX_DEFINITION_BYTES = 256 * 1_024;
/** The longest listing, with the handshake and over all pages. */
const DEADLINE_MS = 20_000;
/** The number of concurrent listings, for the job and for administrators. A listing that hangs keeps its permit until its deadline. */
export const LISTINGS = { total: 8, perKey: 4 };
/** Names that can be stored and shown. Most clients accept fewer. */
const nameForm = /^[\x21-\x7e]{1,128}$/;

type ListedTool = ListToolsResult['tools'][number];

export interface Listing {
  readonly definitions: readonly PinnedDefinition[];
  readonly protocolVersion: string | null;
}

/**
 * Reads the pages one by one: the client's own `listTools` collects them without a limit of bytes, and writes the names
 * of tools that it leaves out to the console as they are.
 */
async function listPages(client: Client, timeout: number, { signal }: Allowance): Promise<ListedTool[]> {
  if (!client.getServerCapabilities()?.tools) return [];
  const tools: ListedTool[] = [];
  let cursor: string | undefined;
  for (let pages = 1; ; pages += 1) {
    const params = cursor === undefined ? {} : { cursor };
    const page = await client.request({ method: 'tools/list', params }, { timeout, signal });
    tools.push(...page.tools);
    cursor = page.nextCursor;
    if (cursor === undefined || cursor === '') return tools;
    if (tools.length > MAX_TOOLS || pages >= MAX_TOOLS) throw new UpstreamFault('too_large');
  }
}

function toDefinitions(tools: readonly ListedTool[], isModern: boolean): PinnedDefinition[] {
  if (tools.length > MAX_TOOLS) throw new UpstreamFault('too_large');
  const definitions = tools
    .filter(({ name, inputSchema }) => nameForm.test(name) && !(isModern && hasInvalidHeaders(inputSchema)))
    .map(pinDefinition);
  const bytes = definitions.reduce((sum, { json }) => sum + Buffer.byteLength(json), 0);
  if (bytes > MAX_DEFINITION_BYTES) throw new UpstreamFault('too_large');
  if (new Set(definitions.map(({ name }) => name)).size < definitions.length)
    throw new UpstreamFault('invalid_answer');
  return definitions;
}

export function createListings({
  connections,
  timeoutMs,
}: {
  readonly connections: Connections;
  /** The longest duration of a page. */
  readonly timeoutMs: number;
}) {
  const permits = createKeyedSemaphore(LISTINGS);
  return {
    /** Runs what lists a server. @throws AppError 429, before it begins, when too many are listed at once. */
    async withPermit<T>({ orgId }: UpstreamServer, run: () => Promise<T>): Promise<T> {
      if (!permits.tryAcquire(orgId)) throw tooManyListings();
      try {
        return await run();
      } finally {
        permits.release(orgId);
      }
    },

    /** Asks a server for its tools. @throws UpstreamFault. */
    list(server: UpstreamServer): Promise<Listing> {
      const use = {
        server,
        subject: undefined,
        isRepeatable: true,
        maxBytes: MAX_LISTING_BYTES,
        deadlineMs: DEADLINE_MS,
      };
      return connections.use(use, async (client, allowance) => {
        const tools = await listPages(client, timeoutMs, allowance);
        const isModern = client.getProtocolEra() === 'modern';
        return {
          definitions: toDefinitions(tools, isModern),
          protocolVersion: client.getNegotiatedProtocolVersion() ?? null,
        };
      });
    },
  };
}

export type Listings = ReturnType<typeof createListings>;
