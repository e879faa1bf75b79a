import { authPlugin, type IdentityClient } from '@platform/auth';
import { readEvents } from '@platform/events';
import { type Clock, createApp, type ServiceApp } from '@platform/service-kit';
import { crawlAuthErrors } from './api/authority.js';
import { connectorRoutes } from './api/connectors/routes.js';
import { crawlErrors } from './api/error-format.js';
import { eventRoutes } from './api/events/routes.js';
import { queueRoutes } from './api/queue/routes.js';
import { createQueueView } from './api/queue/service.js';
import { runRoutes } from './api/runs/routes.js';
import { createRunService } from './api/runs/service.js';
import { createNextRunsService } from './api/schedules/next-runs.js';
import { nextRunRoutes } from './api/schedules/next-runs.routes.js';
import { scheduleRoutes } from './api/schedules/routes.js';
import { createScheduleService } from './api/schedules/service.js';
import { statisticsRoutes } from './api/statistics/routes.js';
import { createStatistics } from './api/statistics/service.js';
import type { CrawlConfig } from './config.js';
import { registerQueueUp } from './engine/metrics.js';
import type { CrawlQueues } from './queue/queues.js';
import type { Resources } from './resources.js';

const VERSION = '0.1.0';

/** The time by which identity's clock may be ahead of this machine's. */
const CLOCK_TOLERANCE_MS = 5_000;

export interface CrawlDeps {
  readonly config: CrawlConfig;
  readonly resources: Resources;
  readonly queues: CrawlQueues;
  /** Called after each committed change of a schedule. */
  readonly onChange: () => void;
  readonly identity: IdentityClient;
  readonly clock: Clock;
}

/** Registers the routes of the API, which a process with the role `worker` does not serve. */
async function registerApi(service: ServiceApp, deps: CrawlDeps): Promise<void> {
  const { app } = service;
  const { config, resources, queues, identity, clock } = deps;
  const { pool, prisma } = resources;
  await app.register(authPlugin, {
    issuer: config.TOKEN_ISSUER,
    audience: 'crawl',
    keySet: identity.keySet,
    liveness: identity.liveness,
    clock,
    clockToleranceMs: CLOCK_TOLERANCE_MS,
    publicUrl: config.PUBLIC_URL,
    messages: crawlAuthErrors,
  });
  // All routes require an administrator, and the scope that each of them names.
  scheduleRoutes(app, createScheduleService({ pool, onChange: deps.onChange, clock }));
  nextRunRoutes(app, createNextRunsService({ pool, clock }));
  runRoutes(app, createRunService({ pool, prisma, queues, clock }));
  statisticsRoutes(app, createStatistics({ pool, clock }));
  queueRoutes(app, createQueueView({ pool, clock }));
  connectorRoutes(app);
  eventRoutes(app, (query) => readEvents(pool, query));
}

/** Builds the service without listening: tests inject requests, and `server.ts` serves it. */
export async function buildCrawl(deps: CrawlDeps): Promise<ServiceApp> {
  const { config, resources, queues } = deps;
  const service = await createApp({
    service: 'crawl',
    title: 'Crawl',
    description: 'Schedules of connector crawls, their runs, and the sync events that they publish.',
    version: VERSION,
    errors: crawlErrors,
    log: resources.log,
    trustProxy: config.TRUST_PROXY,
  });
  service.health.checks.set('database', () => resources.pool.query('select 1'));
  registerQueueUp(service.metrics, () => queues.ping());
  // Of the API, only "run now" needs the queue, and it fails with 503 by itself. A worker does nothing without the
  // queue.
  if (config.ROLE === 'worker') service.health.checks.set('queue', () => queues.ping());
  else {
    service.health.checks.set('identity', () => Promise.resolve().then(() => deps.identity.keySet.current()));
    await registerApi(service, deps);
  }
  return service;
}
