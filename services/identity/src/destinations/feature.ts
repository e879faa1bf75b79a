import {
  createTokenBuckets,
  type App,
  createEgress,
  createHostResolver,
  type Shutdown,
  type Target,
} from '@platform/service-kit';
import { Counter, type Registry } from 'prom-client';
import type { StartJob } from '../base/start-job.js';
import type { Resources } from '../resources.js';
import type { Claim } from './claim.sql.js';
import { createDeliveryJob, type ToSubscribedEvent } from './delivery.job.js';
import type { DisableReason } from './outcomes.js';
import { destinationRoutes } from './routes.js';
import { egressLimits } from './send.js';
import { type DestinationContext, disableFailing } from './service.js';

/** A request costs up to five seconds of a connection. */
const TESTS_PER_MINUTE = 60;

type Deps = Pick<Resources, 'deliveryPool' | 'prisma' | 'log'> &
  Pick<DestinationContext, 'box' | 'outbox' | 'clock'> & {
    readonly allowedTargets: readonly Target[];
    readonly metrics: Registry;
    readonly startJob: StartJob;
    readonly shutdown: Shutdown;
  };

/** Registers the destinations of facts. @returns what subscriptions need, and the function that starts to send. */
export function registerDestinations(app: App, deps: Deps) {
  const { deliveryPool: pool, prisma, box, outbox, clock, log, shutdown } = deps;
  const egress = createEgress(deps.allowedTargets, egressLimits, createHostResolver());
  const deliveries = new Counter({
    name: 'platform_fact_deliveries_total',
    help: 'Requests with facts to destinations, by form and by the state of the delivery after it',
    labelNames: ['form', 'state'],
    registers: [deps.metrics],
  });
  let job: ReturnType<typeof createDeliveryJob> | undefined;
  const wake = (): void => job?.wake();
  shutdown.on('close', 'destinations', () => egress.agent.destroy());
  const countTest = createTokenBuckets(
    TESTS_PER_MINUTE,
    clock,
    "Too many tests of this organisation's destinations",
  );
  destinationRoutes(app, { prisma, box, egress, outbox, countTest, wake, clock });
  return {
    egress,
    /** Starts to send, when there is what decides about subscriptions. */
    start(subscriptions: {
      readonly toSubscribedEvent: ToSubscribedEvent;
      /** Ends a subscription to which nothing more is to be sent. */
      readonly end: (subscription: Claim, reason: DisableReason) => Promise<void>;
    }): void {
      job = createDeliveryJob({
        pool,
        egress,
        box,
        toSubscribedEvent: subscriptions.toSubscribedEvent,
        disable: (destination, reason) =>
          destination.subscription
            ? subscriptions.end(destination, reason)
            : disableFailing({ prisma, outbox, clock }, destination, reason),
        countDeliveries: (form, state, count) => {
          deliveries.inc({ form, state }, count);
        },
        clock,
        log,
      });
      deps.startJob('destinations', job);
    },
  };
}
export type Destinations = ReturnType<typeof registerDestinations>;
