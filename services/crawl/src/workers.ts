import { setTimeout as delay } from 'node:timers/promises';
import { createPool, type ServiceDeps } from '@platform/service-kit';
import type pg from 'pg';
import type { Registry } from 'prom-client';
import type { CrawlConfig } from './config.js';
import { mayCancelAttempt, saveEndpointState, saveProgress, saveTaskLocation } from './db/claimed-runs.js';
import { readOldestDueAge } from './db/expected-runs.js';
import { createActiveRuns } from './engine/active-runs.js';
import { createProcessor, startCrawlWorkers } from './engine/crawl.job.js';
import { createCrawlMetrics, type CrawlMetrics, registerQueueAge } from './engine/metrics.js';
import { createReconciler } from './engine/reconciler/reconciler.job.js';
import { createRunLifecycle } from './engine/run-lifecycle.js';
import { createTasks } from './engine/tasks/tasks.js';
import { startOutbox } from './outbox.js';
import { type Applier, createApplier } from './queue/applier.js';
import type { CrawlJob } from './queue/job.js';
import type { Queueing } from './queueing.js';
import type { Resources } from './resources.js';

/** A run may go without a heartbeat for as long as BullMQ waits for a stalled job, within these limits. */
const MIN_LEASE_MS = 5_000;
const MAX_LEASE_MS = 30_000;
/** The time limit for runs to end or to be handed back. */
const STOP_MS = 8_000;

interface WorkerDeps extends ServiceDeps<CrawlConfig, Resources>, Queueing {
  readonly registry: Registry;
}

interface RunDeps extends WorkerDeps {
  readonly applier: Applier;
  readonly metrics: CrawlMetrics;
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

/**
 * Removes the job scheduler that made a stale tick: a command that was executed after its timeout can leave one that
 * no row knows of.
 */
function createStaleTicks({ queues, metrics, resources }: RunDeps) {
  return async ({ id, data }: CrawlJob): Promise<void> => {
    if (data.kind !== 'tick' || id === undefined) return;
    await queues.removeTickScheduler(data.connector, id).then(
      (isRemoved) => {
        if (isRemoved) metrics.repairs.inc({ kind: 'orphaned_scheduler' });
      },
      (error: unknown) => {
        resources.log.warn({ err: error, jobId: id }, 'failed to remove a job scheduler without a schedule');
      },
    );
  };
}

/** Starts the half of the service that runs the crawls. */
function startRuns(deps: RunDeps): void {
  const { config, resources, queueBackend, metrics, shutdown, clock } = deps;
  const { log } = resources;
  const pool = openPool(deps);
  const onEvent = startOutbox(deps, pool);
  const leaseMs = Math.min(MAX_LEASE_MS, Math.max(MIN_LEASE_MS, config.STALLED_INTERVAL_MS));
  const activeRuns = createActiveRuns({ pool, clock, leaseMs, log });
  const stopping = new AbortController();
  const tasks = createTasks({
    endpoints: config.TASKS,
    secrets: config.TASK_SECRETS,
    clock,
  });
  const times = {
    leaseMs,
    retryDelayMs: config.RETRY_DELAY_MS,
    misfireGraceMs: config.MISFIRE_GRACE_MS,
    endpointGraceMs: config.ENDPOINT_GRACE_MS,
  };
  const processor = createProcessor({
    lifecycle: createRunLifecycle({ pool, clock, times, onEvent, onStale: createStaleTicks(deps) }),
    activeRuns,
    getTask: tasks.get,
    saveProgress: (run, progress) => saveProgress(pool, run, progress),
    saveEndpointState: (run, wait) => saveEndpointState(pool, run, wait),
    saveTaskLocation: (run, location) => saveTaskLocation(pool, run, location),
    mayCancelAttempt: (run) => mayCancelAttempt(pool, run),
    endpointGraceMs: config.ENDPOINT_GRACE_MS,
    onOutcome: (connector, outcome, seconds) => {
      metrics.runs.inc({ connector, outcome });
      metrics.duration.observe({ outcome }, seconds);
    },
    clock,
    log,
    stopping: stopping.signal,
  });
  const workers = startCrawlWorkers(queueBackend, processor, {
    concurrency: config.QUEUE_CONCURRENCY,
    stalledIntervalMs: config.STALLED_INTERVAL_MS,
    log,
  });
  registerQueueAge(deps.registry, () => readOldestDueAge(pool, new Date(clock())));
  activeRuns.start();
  const reconciler = createReconciler({
    ...deps,
    pool,
    cancelTask: tasks.cancel,
    log,
    intervalMs: config.RECONCILE_INTERVAL_MS,
    overdueGraceMs: config.OVERDUE_GRACE_MS,
    misfireGraceMs: config.MISFIRE_GRACE_MS,
  });
  reconciler.start();
  shutdown.on('workers', 'reconciler', reconciler.stop);
  shutdown.on('workers', 'crawl workers', async () => {
    // Active runs are handed back: they may take minutes, and another replica can continue them.
    activeRuns.stopAll();
    const closed = Promise.all(workers.map((worker) => worker.close()));
    // While Redis is unavailable BullMQ waits for it forever; the next worker finds out what it was not told.
    const limit = new AbortController();
    const late = delay(STOP_MS, undefined, { signal: limit.signal }).catch(() => undefined);
    await Promise.race([closed, late]);
    limit.abort();
    stopping.abort();
    activeRuns.stop();
    await tasks.close();
  });
}

/** Starts the background work of the process's role. @returns the applier, which every role has. */
export function startWorkers(deps: WorkerDeps): Applier {
  const { config, resources, queues, shutdown, clock } = deps;
  const { pool, log } = resources;
  const metrics = createCrawlMetrics(deps.registry);
  const applier = createApplier({ pool, queues, clock, metrics, log });
  applier.start();
  shutdown.on('flush', 'applier of schedules', applier.stop);
  if (config.ROLE !== 'api') startRuns({ ...deps, applier, metrics });
  return applier;
}
