import { setTimeout as delay } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';
import { Type } from 'typebox';
import { VERSION } from '../version.js';

/** Rejects when the dependency cannot be used at present. */
export type ReadinessCheck = () => Promise<unknown>;

export interface Health {
  /** Set by the shutdown: from then on `/health/ready` answers 503. */
  isStopping: boolean;
  readonly checks: Map<string, ReadinessCheck>;
}

const CHECK_TIMEOUT_MS = 1_500;

const Readiness = Type.Object({
  status: Type.String({ description: '`ready` or `unavailable`' }),
  checks: Type.Record(Type.String(), Type.String()),
});

async function runCheck(check: ReadinessCheck): Promise<'ok' | 'failed'> {
  const abort = new AbortController();
  try {
    const timeout = delay(CHECK_TIMEOUT_MS, undefined, { signal: abort.signal }).then(() => {
      throw new Error('timed out');
    });
    await Promise.race([check(), timeout]);
    return 'ok';
  } catch {
    return 'failed';
  } finally {
    abort.abort();
  }
}

type Outcome = Awaited<ReturnType<typeof runCheck>>;

/** Probes that arrive while a check runs share its result, so that callers cannot multiply the checks. */
function shareChecks(): (name: string, check: ReadinessCheck) => Promise<Outcome> {
  const pending = new Map<string, Promise<Outcome>>();
  return (name, check) => {
    const running =
      pending.get(name) ??
      runCheck(check).finally(() => {
        pending.delete(name);
      });
    pending.set(name, running);
    return running;
  };
}

/**
 * Registers `/health/live`, which shows that the process responds, `/health/ready`, which also checks dependencies, and
 * `/health`, which shows what runs.
 */
export function registerHealth(app: FastifyInstance, health: Health, commit = 'unknown'): void {
  const schema = { hide: true, response: { 200: Readiness, 503: Readiness } };
  const share = shareChecks();
  app.get('/health', { schema: { hide: true } }, () => ({ status: 'live', version: VERSION, commit }));
  app.get('/health/live', { schema: { hide: true } }, () => ({ status: 'live' }));
  app.get('/health/ready', { schema }, async (_request, reply) => {
    const names = [...health.checks.keys()];
    const outcomes = await Promise.all([...health.checks].map(([name, check]) => share(name, check)));
    const isReady = !health.isStopping && outcomes.every((outcome) => outcome === 'ok');
    return reply.code(isReady ? 200 : 503).send({
      status: isReady ? 'ready' : 'unavailable',
      checks: Object.fromEntries(names.map((name, index) => [name, outcomes[index] ?? 'failed'])),
    });
  });
}
