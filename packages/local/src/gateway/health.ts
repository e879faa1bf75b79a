import type { FastifyInstance } from 'fastify';
import type { Upstream } from './upstream.js';

const CHECK_TIMEOUT_MS = 2_000;

/** Registers `/health/live`, which shows that the gateway responds, and `/health/ready`, which checks every service. */
export function registerHealth(app: FastifyInstance, upstreams: readonly Upstream[]): void {
  app.get('/health/live', { schema: { hide: true } }, () => ({ status: 'live' }));
  app.get('/health/ready', { schema: { hide: true } }, async (_request, reply) => {
    const states = await Promise.all(upstreams.map(checkReadiness));
    const services = Object.fromEntries(upstreams.map(({ name }, index) => [name, states[index]]));
    reply.header('cache-control', 'no-store');
    if (states.every((state) => state === 'ready')) return { status: 'ready', services };
    const waiting = upstreams.filter((_, index) => states[index] !== 'ready').map(({ name }) => name);
    const error = { code: 'NOT_READY', message: `Not ready: ${waiting.join(', ')}` };
    return reply.code(503).send({ status: 'unavailable', services, error });
  });
}

async function checkReadiness({ url }: Upstream): Promise<'ready' | 'not ready' | 'unreachable'> {
  try {
    const response = await fetch(`${url}/health/ready`, { signal: AbortSignal.timeout(CHECK_TIMEOUT_MS) });
    await response.body?.cancel();
    return response.ok ? 'ready' : 'not ready';
  } catch {
    return 'unreachable';
  }
}
