import fastify from 'fastify';

/* The baseline: Fastify with a JSON route of the size of `users/me`, serialised by its schema. */
const text = { type: 'string' } as const;
const user = {
  type: 'object',
  properties: { id: text, orgId: text, email: text, fullName: text, role: text },
} as const;
const schema = { response: { 200: { type: 'object', properties: { user } } } };
const body = {
  user: {
    id: '01900000-0000-7000-8000-000000000000',
    orgId: '01900000-0000-7000-8000-000000000001',
    email: 'admin@example.com',
    fullName: 'Administrator',
    role: 'admin',
  },
};

const app = fastify();
app.get('/api/v1/users/me', { schema }, (_request, reply) => {
  void reply.send(body);
});
await app.listen({ host: '127.0.0.1', port: Number(process.argv[2]) });
console.log('ready');
