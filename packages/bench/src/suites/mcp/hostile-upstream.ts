import { createServer } from 'node:http';

/*
 * A server to mount whose list of tools never ends, in pages of 3.8 MB, each of which is one tool. It follows the revision
 * 2025-06-18 of the protocol.
 */

const tool = { name: 'tool', description: 'a'.repeat(3_800_000), inputSchema: { type: 'object' } };
const results: Readonly<Record<string, object>> = {
  initialize: {
    protocolVersion: '2025-06-18',
    capabilities: { tools: {} },
    serverInfo: { name: 'hostile', version: '1' },
  },
  'tools/list': { tools: [tool], nextCursor: 'more' },
};
/** Serialised once, so that the server uses little of the core that it shares with the load. */
const serialised = new Map(
  Object.entries(results).map(([method, result]) => [method, JSON.stringify(result)]),
);

const server = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    const text = Buffer.concat(chunks).toString();
    const { id, method } = (text === '' ? {} : JSON.parse(text)) as { id?: number | string; method?: string };
    if (id === undefined) {
      response.writeHead(202).end();
      return;
    }
    const result = serialised.get(method ?? '');
    const answer =
      result === undefined ? '"error":{"code":-32601,"message":"Method not found"}' : `"result":${result}`;
    response
      .writeHead(200, { 'content-type': 'application/json' })
      .end(`{"jsonrpc":"2.0","id":${JSON.stringify(id)},${answer}}`);
  });
});
server.listen(Number(process.argv[2]), '127.0.0.1', () => {
  console.log('ready');
});
