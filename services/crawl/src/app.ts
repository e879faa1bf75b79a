import { getAccount, openIdentityClient, registerRemoteAuth } from '@platform/auth';
import { readEvents, startFactSender } from '@platform/events';
import {
  type App,
  assertWritable,
  createApp,
  createSecretBox,
  registerIdempotency,
  reportMissingKeys,
  type SecretBox,
  type ServiceApp,
  type ServiceDeps,
} from '@platform/service-kit';
import { crawlAuthErrors } from './api/authority.js';
import type { ApiContext } from './api/context.js';
import { connectorRoutes } from './api/connectors/routes.js';
import { endpointRoutes } from './api/endpoints/routes.js';
import { crawlErrors } from './api/error-format.js';
import { hookRoutes } from './api/hooks/routes.js';
import { ringRoutes } from './api/hooks/ring.routes.js';
import { eventRoutes } from './api/events/routes.js';
import { connectorInstanceRoutes } from './api/instances/routes.js';
import { queueRoutes } from './api/queue/routes.js';
import { runRoutes } from './api/runs/routes.js';
import { nextRunRoutes } from './api/schedules/next-runs.routes.js';
import { scheduleRoutes } from './api/schedules/routes.js';
import { statisticsRoutes } from './api/statistics/routes.js';
import { workRoutes } from './api/work/routes.js';
import { createWaitingWorkers } from './api/work/waiting-workers.js';
import { createWorkerSightings } from './api/work/worker-sightings.js';
import type { CrawlConfig } from './config.js';
import { createWorkListener } from './db/work-listener.js';
import type { NewRun } from './db/runs.js';
import { notifyWork } from './db/work.js';
import { registerQueueUp } from './engine/metrics.js';
import { createRunLifecycle } from './engine/run-lifecycle.js';
import { createOrganisationEndpoints } from './engine/organisation-endpoints.js';
import type { CrawlQueues } from './queue/queues.js';
import { openQueueing } from './queueing.js';
import type { Resources } from './resources.js';
import { startWorkers, toRunTimes } from './workers.js';

type Deps = ServiceDeps<CrawlConfig, Resources>;

/**
 * Registers the routes of the API. All of them require the scope that each of them names, and an administrator or the owner of
 * the instance that they concern.
 */
async function registerApi(
  app: App,
  deps: Deps,
  {
    queues,
    box,
    onDueAt,
    onEvent,
  }: {
    queues: CrawlQueues;
    box: SecretBox;
    onDueAt: (at: number) => void;
    onEvent: () => void;
  },
): Promise<void> {
  const { config, resources, clock, shutdown } = deps;
  const { pool, prisma, log } = resources;
  const onClaimableWork = ({ orgId }: { readonly orgId: string }) => {
    void notifyWork(pool, [orgId]).catch((error: unknown) => {
      log.warn({ err: error }, 'failed to wake the workers that wait');
    });
  };
  const onClaimable = (run: NewRun) => {
    if (run.worker === 'pull') onClaimableWork(run);
    else
      // The run is stored: a worker finds it within a second, or once the queue is available.
      void queues.announce(new Map([[run.connector, 1]])).catch((error: unknown) => {
        log.warn({ err: error, runId: run.id }, 'failed to announce a run to the queue');
      });
  };
  const endpoints = createOrganisationEndpoints({
    pool,
    clock,
    box,
    allowedTargets: config.ENDPOINT_ALLOWED_TARGETS,
  });
  shutdown.on('close', 'endpoints', endpoints.close);
  const ctx: ApiContext = {
    pool,
    prisma,
    clock,
    log,
    box,
    endpoints,
    overdueGraceMs: config.OVERDUE_GRACE_MS,
    hookDelayMs: config.HOOK_DELAY_MS,
    onDueAt,
    onClaimable,
  };
  scheduleRoutes(app, ctx);
  nextRunRoutes(app, ctx);
  runRoutes(app, ctx);
  endpointRoutes(app, ctx);
  connectorInstanceRoutes(app, ctx);
  hookRoutes(app, ctx);
  await ringRoutes(app, ctx);
  const waiting = createWaitingWorkers();
  const listener = createWorkListener({ databaseUrl: config.DATABASE_URL, onWork: waiting.wake, log });
  listener.start();
  shutdown.on('http', 'waiting workers', waiting.close);
  shutdown.on('close', 'listener for work', listener.stop);
  const times = toRunTimes(config);
  const lifecycle = createRunLifecycle({
    pool,
    clock,
    times,
    concurrency: config.QUEUE_CONCURRENCY,
    failingAfter: config.FAILING_AFTER,
    onEvent,
  });
  const recordSighting = createWorkerSightings({ pool, clock });
  workRoutes(app, {
    pool,
    clock,
    lifecycle,
    leaseMs: times.leaseMs,
    waiting,
    recordSighting,
    onClaimable: onClaimableWork,
  });

  statisticsRoutes(app, ctx);
  queueRoutes(app, ctx);
  connectorRoutes(app);
  eventRoutes(app, (query) => readEvents(pool, query));
}

/** Builds the API, the worker or both, depending on the role. `main.ts` adds the listener. */
export async function buildCrawl(deps: Deps): Promise<ServiceApp> {
  const { config, resources } = deps;
  const service = await createApp({
    service: 'crawl',
    title: 'Crawl',
    description: 'Schedules of connector crawls, their runs, and the sync events that they publish.',
    tags: {
      Connectors: 'The kinds of connectors, and the instances that an organisation has of them.',
      'Crawl schedules': 'When connectors are crawled: one schedule for each instance.',
      'Crawl runs': 'The runs that a schedule makes, or that somebody asks for.',
      'Crawl workers': 'What a worker of the organisation does: it claims runs, reports and finishes them.',
      'Crawl endpoints': 'Services of the organisation that are sent its runs.',
      'Crawl hooks': 'Addresses at which a source asks for a run when it has changed.',
      'Sync events': 'The feed of completed runs, for what indexes the documents.',
      Statistics: 'Counts of runs and of what waits.',
    },
    errors: crawlErrors,
    log: resources.log,
    commit: config.COMMIT,
    trustProxy: config.TRUST_PROXY,
  });
  const { app, health, metrics } = service;
  const queueing = await openQueueing(deps);
  const { queues } = queueing;
  health.checks.set('database', () => assertWritable(resources.pool));
  registerQueueUp(metrics, () => queues.probe());
  const box = createSecretBox(config.ENCRYPTION_KEYS);
  void reportMissingKeys({
    ...resources,
    keys: config.ENCRYPTION_KEYS,
    sealed: ['select secrets_sealed from endpoints', 'select secrets_sealed from hooks'],
  });
  const work =
    config.ROLE === 'api' ? undefined : startWorkers({ ...deps, ...queueing, registry: metrics, box });
  // The API does not need the queue: what it stores is found once the queue is back. A worker does nothing without the
  // queue, and verifies no request.
  if (config.ROLE === 'worker') {
    health.checks.set('queue', () => queues.probe());
    return service;
  }
  const identity = openIdentityClient({ ...deps, log: resources.log });
  await registerRemoteAuth(service, {
    ...deps,
    ...deps.resources,
    audience: 'crawl',
    identity,
    messages: crawlAuthErrors,
  });
  registerIdempotency(app, { ...deps, ...resources, box, getCaller: getAccount });
  await registerApi(app, deps, {
    queues,
    box,
    onDueAt: (at) => work?.dispatcher.wakeAt(at),
    onEvent: () => work?.onEvent(),
  });
  startFactSender({ ...deps, ...deps.resources, registry: metrics, report: identity.report });
  await identity.start();
  return service;
}
