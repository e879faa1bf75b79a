import type { Client } from '@modelcontextprotocol/client';
import { createPermits, readJsonElements, readJsonMembers, readJsonText } from '@platform/service-kit';
import { UpstreamFault } from '../../../base/egress/faults.js';
import { tooManyListings } from '../errors.js';
import { type OfferedTools, readOfferedTools } from '../offered-tools.js';
import type { Allowance } from './allowance.js';
import type { Connections, UpstreamServer } from './connections.js';
import type { Subject } from './credentials.js';

const MAX_PAGES = 200;
/** The answers of a listing, with all its pages. */
const MAX_LISTING_BYTES = 512 * 1_024;
/** The longest listing, with the handshake and over all pages. */
const DEADLINE_MS = 20_000;
/** The number of concurrent listings, for the job and for administrators. A listing that hangs keeps its permit until its deadline. */
export const LISTINGS = { total: 8, perKey: 4 };

export interface Listing extends OfferedTools {
  readonly protocolVersion: string | null;
}

/** Returns the tools of a page, each as JSON, and the cursor of the next. @throws UpstreamFault. */
function readPage(response: string | undefined): {
  readonly tools: readonly string[];
  readonly next: string;
} {
  const result = readJsonMembers(readJsonText(response ?? '', ['result']) ?? '');
  const tools = result.get('tools') ?? '';
  const next: unknown = JSON.parse(result.get('nextCursor') ?? 'null') ?? '';
  // A list without a tool is null in some languages.
  if (!(tools.startsWith('[') || tools === 'null') || typeof next !== 'string')
    throw new UpstreamFault('invalid_answer');
  return { tools: readJsonElements(tools), next };
}

/**
 * Reads the pages one by one: the client's own `listTools` collects them without a limit of bytes, and writes the names
 * of tools that it leaves out to the console as they are.
 *
 * @returns each tool as JSON.
 */
async function listPages(client: Client, timeout: number, { signal, texts }: Allowance): Promise<string[]> {
  if (!client.getServerCapabilities()?.tools) return [];
  const tools: string[] = [];
  const cursors = new Set<string>();
  for (;;) {
    const cursor = [...cursors].at(-1);
    await client.request(
      { method: 'tools/list', params: cursor === undefined ? {} : { cursor } },
      { timeout, signal },
    );
    const page = readPage(texts.response);
    tools.push(...page.tools);
    if (page.next === '') return tools;
    if (cursors.has(page.next)) throw new UpstreamFault('repeated_cursor');
    cursors.add(page.next);
    if (cursors.size >= MAX_PAGES) throw new UpstreamFault('too_large');
  }
}

export function createListings({
  connections,
  timeoutMs,
}: {
  readonly connections: Connections;
  /** The longest duration of a page. */
  readonly timeoutMs: number;
}) {
  const permits = createPermits(LISTINGS);
  return {
    /** Runs what lists a server. @throws AppError 429, before it begins, when too many are listed at once. */
    withPermit: <T>({ orgId }: UpstreamServer, run: () => Promise<T>): Promise<T> =>
      permits.run(orgId, run, tooManyListings),

    /** Asks a server for its tools. @param subject - undefined for the platform itself. @throws UpstreamFault. */
    list(server: UpstreamServer, subject: Subject | undefined): Promise<Listing> {
      const use = {
        server,
        subject,
        isRepeatable: true,
        maxBytes: MAX_LISTING_BYTES,
        deadlineMs: DEADLINE_MS,
      };
      return connections.use(use, async (client, allowance) => {
        const tools = await listPages(client, timeoutMs, allowance);
        const isModern = client.getProtocolEra() === 'modern';
        return {
          ...readOfferedTools(tools, isModern),
          protocolVersion: client.getNegotiatedProtocolVersion() ?? null,
        };
      });
    },
  };
}

export type Listings = ReturnType<typeof createListings>;
