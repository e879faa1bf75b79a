import fastify from 'fastify';

/*
 * The baseline: Fastify with one route that parses a JSON body and sends it back. It runs in its own process on the
 * server's core.
 */
const app = fastify();
app.post('/mcp', (request, reply) => {
  void reply.send(request.body);
});
app.get('/', (_request, reply) => {
  void reply.send({});
});
process.once('SIGTERM', () => process.exit(0));
await app.listen({ host: '127.0.0.1', port: Number(process.argv[2]) });
