import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import express from 'express';
import { z } from 'zod';

/*
 * The common way to serve the protocol without state: Express, with a new McpServer and transport for each request.
 * Eight tools with zod schemas; credentials are not checked.
 */
const connector = z.string().min(1).max(100).describe('A connector, such as wiki_1.');
const inputs = {
  list_connectors: {},
  get_crawl: { connector },
  list_crawls: { limit: z.number().int().min(1).max(100).default(20), cursor: z.string().optional() },
  pause_crawl: { connector },
  resume_crawl: { connector },
  remove_crawl: { connector },
  crawl_stats: {},
};
const text = z.string();
const outputSchema = { user: z.object({ id: text, orgId: text, email: text, fullName: text, role: text }) };
const user = { id: 'a', orgId: 'b', email: 'admin@example.com', fullName: 'Administrator', role: 'admin' };
const annotations = { readOnlyHint: true };
const description = 'Tells whose account you act for, in which organisation, and what it allows.';

function createServer(): McpServer {
  const server = new McpServer({ name: 'bench', version: '1' });
  const whoami = { title: 'Who am I', description, inputSchema: {}, outputSchema, annotations };
  server.registerTool('whoami', whoami, () => ({
    content: [{ type: 'text', text: JSON.stringify({ user }) }],
    structuredContent: { user },
  }));
  for (const [name, inputSchema] of Object.entries(inputs))
    server.registerTool(name, { title: name, description, inputSchema, annotations }, () => ({
      content: [],
    }));
  return server;
}

const app = express();
app.use(express.json());
app.post('/mcp', async (request, response) => {
  const server = createServer();
  const transport = new StreamableHTTPServerTransport({ enableJsonResponse: true });
  response.on('close', () => {
    void transport.close();
    void server.close();
  });
  await server.connect(transport);
  await transport.handleRequest(request, response, request.body);
});
app.listen(Number(process.argv[2]), '127.0.0.1', () => {
  console.log('ready');
});
