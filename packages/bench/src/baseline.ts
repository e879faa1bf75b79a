import fastify from 'fastify';

/*
 * The baseline, in a process of its own on the server's core: Fastify with a JSON route of the size of `users/me`,
 * serialised by its schema, and with one that parses a JSON body and sends it back.
 */
const text = { type: 'string' } as const;
const user = {
  type: 'object',
  properties: { id: text, orgId: text, email: text, fullName: text, role: text },
} as const;

const app = fastify();
app.get(
  '/api/v1/users/me',
  { schema: { response: { 200: { type: 'object', properties: { user } } } } },
  (_request, reply) => {
    void reply.send({
      user: {
        id: '01900000-0000-7000-8000-000000000000',
        orgId: '01900000-0000-7000-8000-000000000001',
        email: 'admin@example.com',
        fullName: 'Administrator',
        role: 'admin',
      },
    });
  },
);
app.post('/mcp', (request, reply) => {
  void reply.send(request.body);
});
app.get('/', (_request, reply) => {
  void reply.send({});
});
process.once('SIGTERM', () => process.exit(0));
await app.listen({ host: '127.0.0.1', port: Number(process.argv[2]) });
