import { setTimeout as delay } from 'node:timers/promises';
import { createOutboxRetention, startOutbox, syncEvents } from '@platform/events';
import { createPool, type SecretBox, type ServiceDeps } from '@platform/service-kit';
import type pg from 'pg';
import type { Registry } from 'prom-client';
import type { CrawlConfig } from './config.js';
import { saveEndpointState, saveProgress, saveTaskLocation } from './db/claimed-runs.js';
import { readBacklog } from './db/dispatch.js';
import { notifyWork } from './db/work.js';
import { createActiveRuns } from './engine/active-runs.js';
import { createProcessor, startCrawlWorkers } from './engine/crawl.job.js';
import { createDispatcher, type Dispatcher } from './engine/dispatcher.job.js';
import { createCrawlMetrics, registerBacklog } from './engine/metrics.js';
import { createRunLifecycle } from './engine/run-lifecycle.js';
import { createTaskCancellations } from './engine/task-cancellations.job.js';
import { createOrganisationEndpoints } from './engine/organisation-endpoints.js';
import { toTask } from './engine/tasks.js';
import type { Queueing } from './queueing.js';
import type { Resources } from './resources.js';

/** The limits of the time for which a run may go without a heartbeat. */
const MIN_LEASE_MS = 5_000;
const MAX_LEASE_MS = 30_000;
/** The time limit for runs to end or to be handed back. */
const STOP_MS = 8_000;

interface WorkerDeps extends ServiceDeps<CrawlConfig, Resources>, Queueing {
  readonly registry: Registry;
  readonly box: SecretBox;
}

/**
 * Opens a pool of the worker's own, so that requests cannot keep a run from continuing, or its lease from being
 * renewed.
 */
function openPool({ config, resources, shutdown }: WorkerDeps): pg.Pool {
  return createPool({
    connectionString: config.DATABASE_URL,
    applicationName: 'crawl-worker',
    maxConnections: config.WORKER_CONNECTIONS_MAX,
    timeoutMs: config.DATABASE_TIMEOUT_MS,
    log: resources.log,
    shutdown,
  });
}

/** Deletes old events; with Kafka, only published ones. */
function startRetention({ config, resources, shutdown, clock }: WorkerDeps, pool: pg.Pool): void {
  const isPublishedOnly = config.KAFKA_BROKERS.length > 0;
  const retention = createOutboxRetention({ pool, log: resources.log, clock, isPublishedOnly });
  retention.start();
  shutdown.on('flush', 'outbox retention', () => retention.stop());
}

/** Returns the times that decide about runs. */
export const toRunTimes = (config: CrawlConfig) => ({
  leaseMs: Math.min(MAX_LEASE_MS, Math.max(MIN_LEASE_MS, config.STALLED_INTERVAL_MS)),
  retryDelayMs: config.RETRY_DELAY_MS,
  misfireGraceMs: config.MISFIRE_GRACE_MS,
  endpointGraceMs: config.ENDPOINT_GRACE_MS,
});

/** Starts the half of the service that runs the crawls. @returns what the API calls after a change or an event. */
export function startWorkers(deps: WorkerDeps): { dispatcher: Dispatcher; onEvent: () => void } {
  const { config, resources, queueBackend, queues, box, shutdown, clock } = deps;
  const { log } = resources;
  const metrics = createCrawlMetrics(deps.registry);
  const pool = openPool(deps);
  const outbox = { config, pool, registry: deps.registry, log, shutdown };
  const onEvent = startOutbox({ ...outbox, events: syncEvents, topic: config.KAFKA_TOPIC, service: 'crawl' });
  startRetention(deps, pool);
  const times = toRunTimes(config);
  const { leaseMs } = times;
  const activeRuns = createActiveRuns({ pool, clock, leaseMs, log });
  const stopping = new AbortController();
  const endpoints = createOrganisationEndpoints({
    pool,
    clock,
    box,
    allowedTargets: config.ENDPOINT_ALLOWED_TARGETS,
  });
  const cancellations = createTaskCancellations({ pool, endpoints, clock, metrics, log });
  cancellations.start();
  const dispatcher = createDispatcher({
    pool,
    queues,
    clock,
    metrics,
    log,
    concurrency: config.QUEUE_CONCURRENCY,
    overdueGraceMs: config.OVERDUE_GRACE_MS,
    misfireGraceMs: config.MISFIRE_GRACE_MS,
    renewLeases: activeRuns.renew,
    onClaimable: (runs) => {
      const orgIds = [...new Set(runs.map(({ orgId }) => orgId))];
      void notifyWork(pool, orgIds).catch((error: unknown) => {
        log.warn({ err: error }, 'failed to wake the workers that wait');
      });
    },
  });
  const processor = createProcessor({
    lifecycle: createRunLifecycle({
      pool,
      clock,
      times,
      concurrency: config.QUEUE_CONCURRENCY,
      failingAfter: config.FAILING_AFTER,
      onEvent,
    }),
    activeRuns,
    getTask: (run) => toTask(endpoints, run),
    saveProgress: (run, progress) => saveProgress(pool, run, progress),
    saveEndpointState: (run, wait) => saveEndpointState(pool, run, new Date(clock()), wait),
    saveTaskLocation: (run, location) => saveTaskLocation(pool, run, location, new Date(clock())),
    endpointGraceMs: config.ENDPOINT_GRACE_MS,
    onOutcome: (connector, outcome, seconds) => {
      metrics.runs.inc({ connector, outcome });
      metrics.duration.observe({ outcome }, seconds);
    },
    onDue: () => {
      dispatcher.wake();
      cancellations.wake();
    },
    clock,
    log,
    stopping: stopping.signal,
  });
  const workers = startCrawlWorkers(queueBackend, processor, {
    concurrency: config.QUEUE_CONCURRENCY,
    log,
  });
  registerBacklog(deps.registry, () => {
    const now = clock();
    const overdueBefore = new Date(now - config.OVERDUE_GRACE_MS);
    return readBacklog(pool, { now: new Date(now), overdueBefore, failingAfter: config.FAILING_AFTER });
  });
  activeRuns.start();
  dispatcher.start();
  shutdown.on('workers', 'dispatcher', dispatcher.stop);
  shutdown.on('workers', 'cancellations of tasks', cancellations.stop);
  shutdown.on('workers', 'crawl workers', async () => {
    // Active runs are handed back: they may take minutes, and another replica can continue them.
    activeRuns.stopAll();
    const closed = Promise.all(workers.map((worker) => worker.close()));
    // While Redis is unavailable BullMQ waits for it forever; the next worker finds out what was not reported to it.
    const limit = new AbortController();
    const late = delay(STOP_MS, undefined, { signal: limit.signal }).catch(() => undefined);
    await Promise.race([closed, late]);
    limit.abort();
    stopping.abort();
    activeRuns.stop();
    await endpoints.close();
  });
  return { dispatcher, onEvent };
}
