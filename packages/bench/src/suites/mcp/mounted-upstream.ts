import { createServer } from 'node:http';
import { toNodeHandler } from '@modelcontextprotocol/node';
import { createMcpHandler, McpServer } from '@modelcontextprotocol/server';
import { z } from 'zod';

/*
 * A server to mount, built with the official SDK: 20 tools with zod schemas and descriptions of usual length. It
 * checks no credential and does no search, so that only the hop in front of it is measured.
 */
const TOOLS = 20;
const description =
  'Searches the pages of the wiki and returns the best sections with title, path and a snippet. Words in quotes are a phrase, a minus excludes a word.';
const inputSchema = z.object({
  query: z.string().min(1).max(500).describe('What to search for.'),
  limit: z.number().int().min(1).max(50).default(10).describe('How many sections to return.'),
  space: z.string().optional().describe('Only pages of this space.'),
});
const text = 'A snippet of a page that was found, about as long as they are. '.repeat(8);

const handler = createMcpHandler(() => {
  const server = new McpServer({ name: 'bench-upstream', version: '1' });
  for (let tool = 0; tool < TOOLS; tool += 1)
    server.registerTool(`search_${tool}`, { title: 'Search', description, inputSchema }, () => ({
      content: [{ type: 'text', text }],
    }));
  return server;
});
const handle = toNodeHandler(handler);
const server = createServer(
  (request, response) => void handle(request as Parameters<typeof handle>[0], response),
);
server.listen(Number(process.argv[2]), '127.0.0.1', () => {
  console.log('ready');
});
