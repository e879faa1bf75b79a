import { createTokenBuckets, type App } from '@platform/service-kit';
import type { Destinations } from '../../destinations/feature.js';
import type { Resources } from '../../resources.js';
import type { ToolEndpoint } from '../endpoint/endpoint.js';
import type { ExtensionMethods } from '../endpoint/methods.js';
import { createGate, type FindCredentials } from './gate.js';
import { createEventMethods } from './methods.js';
import { subscriptionRoutes } from './routes.js';
import { endSubscription, type SubscriptionContext } from './subscriptions.js';

/** A challenge costs up to five seconds of a connection, and is a request to whoever is behind the URL. */
const CHALLENGES_PER_MINUTE = 600;
/** Twice as many as an account can have subscriptions. */
const CHALLENGES_PER_MINUTE_OF_ACCOUNT = 200;

/**
 * Registers the events for agents.
 *
 * @returns the methods of the tool endpoint, and the function that starts to send.
 */
export function registerEvents(
  app: App,
  deps: Omit<SubscriptionContext, 'egress' | 'countChallenge'> &
    Pick<Resources, 'deliveryPool'> & {
      readonly destinations: Destinations;
      readonly findCredentials: FindCredentials;
    },
): { readonly methods: ExtensionMethods; start(endpoint: Pick<ToolEndpoint, 'getCatalogue'>): void } {
  const { deliveryPool: pool, destinations, findCredentials, clock } = deps;
  const message = "Too many subscriptions of this organisation's agents";
  const countOfOrganisation = createTokenBuckets(CHALLENGES_PER_MINUTE, clock, message);
  const countOfAccount = createTokenBuckets(
    CHALLENGES_PER_MINUTE_OF_ACCOUNT,
    clock,
    'Too many subscriptions of this account',
  );
  const ctx: SubscriptionContext = {
    ...deps,
    egress: destinations.egress,
    countChallenge({ orgId, userId }) {
      countOfAccount(userId);
      countOfOrganisation(orgId);
    },
  };
  subscriptionRoutes(app, ctx);
  return {
    methods: createEventMethods(ctx),
    start({ getCatalogue }): void {
      destinations.start({
        toSubscribedEvent: createGate({ pool, findCredentials, getCatalogue, clock }),
        end: (subscription, reason) => endSubscription(ctx, subscription, reason),
      });
    },
  };
}
