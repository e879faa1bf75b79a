import { type AuthInfo, type CallToolResult, McpServer } from '@modelcontextprotocol/server';
import { z } from 'zod';
import { toReader } from './access.js';
import { getPerson } from './assertions.js';
import { parsePage } from './sections.js';
import type { Hit, Origin, Store } from './store.js';

const MAX_HITS = 20;
const MAX_EXCERPT_CHARACTERS = 8_000;
const MAX_NOTE_CHARACTERS = 10_000;

const toText = (text: string): CallToolResult => ({ content: [{ type: 'text', text }] });
const toError = (text: string): CallToolResult => ({ ...toText(text), isError: true });

const toEntry = ({ path, title, heading, snippet }: Hit): string =>
  `- ${heading === '' || heading === title ? title : `${title} › ${heading}`} (${path})\n  ${snippet.replaceAll(/\s+/g, ' ')}`;

/** Returns the URL of the source of a page, with the run that has brought it; undefined for a note. */
export type LinkToRun = (origin: Origin) => string | undefined;

/** Names the crawls that results come from, so that whoever doubts an answer can look at its origin. */
function toSources(origins: readonly Origin[], toLink: LinkToRun): string {
  const links = [...new Set(origins.map(toLink))].filter((link) => link !== undefined);
  return links.length === 0 ? '' : `\n\nCrawled by ${links.join(' and ')}`;
}

/**
 * Creates the server of one request. Every tool checks the scope in the assertion as well: the platform has checked
 * it, but a server should not rely on that alone.
 */
export function createKnowledgeServer(
  { store, toLink }: { readonly store: Store; readonly toLink: LinkToRun },
  caller: AuthInfo,
): McpServer {
  const server = new McpServer({ name: 'demo-knowledge', version: '0.1.0' });
  const reader = toReader(getPerson(caller));
  const requireScope = (scope: string, run: () => Promise<CallToolResult>) =>
    caller.scopes.includes(scope) ? run() : Promise.resolve(toError(`This needs the scope ${scope}.`));

  server.registerTool(
    'search',
    {
      title: 'Search the pages',
      description:
        'Full-text search in crawled pages and notes. Returns the best sections with path, heading and a snippet. Words in "quotes" are a phrase; -word excludes.',
      inputSchema: z.object({
        query: z.string().min(1).max(500),
        limit: z.number().int().min(1).max(MAX_HITS).default(8),
      }),
      annotations: { readOnlyHint: true, openWorldHint: false },
    },
    ({ query, limit }) =>
      requireScope('kb:read', async () => {
        const hits = await store.search(reader, query, limit);
        if (hits.length === 0) return toText('Nothing was found.');
        return toText(hits.map(toEntry).join('\n') + toSources(hits, toLink));
      }),
  );

  server.registerTool(
    'read_page',
    {
      title: 'Read a page',
      description: `Returns the text of a page that search has found, ${MAX_EXCERPT_CHARACTERS} characters at a time.`,
      inputSchema: z.object({
        path: z.string().min(1).max(1_000),
        offset: z.number().int().min(0).max(100_000_000).default(0),
      }),
      annotations: { readOnlyHint: true, openWorldHint: false },
    },
    ({ path, offset }) =>
      requireScope('kb:read', async () => {
        const page = await store.read(reader, path, offset, MAX_EXCERPT_CHARACTERS);
        if (!page) return toError('There is no such page. Use a path that search has returned.');
        const end = offset + MAX_EXCERPT_CHARACTERS;
        const isCut = end < page.totalCharacters;
        const more = isCut ? `\n\n[${page.totalCharacters - end} more characters: offset ${end}]` : '';
        return toText(page.text + more + toSources([page], toLink));
      }),
  );

  server.registerTool(
    'add_note',
    {
      title: 'Add a note',
      description: 'Adds a note in Markdown, which search finds from now on. The sources are not changed.',
      inputSchema: z.object({
        title: z.string().min(1).max(200),
        text: z.string().min(1).max(MAX_NOTE_CHARACTERS),
      }),
      annotations: {
        readOnlyHint: false,
        destructiveHint: false,
        idempotentHint: true,
        openWorldHint: false,
      },
    },
    ({ title, text }) =>
      requireScope('semantic:write', async () => {
        const page = { ...parsePage(text, title), title: title.replaceAll('\0', '') };
        const path = await store.addNote(caller.clientId, page);
        return path === undefined ? toError('There are too many notes.') : toText(`Added as ${path}.`);
      }),
  );
  return server;
}
