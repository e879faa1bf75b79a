import { createFactsRelay, type Shutdown } from '@platform/service-kit';
import { MAX_FACTS } from './facts.js';
import { FactsRefused, type IdentityClient } from './identity-client.js';

/** Hands the facts of a service to identity until the shutdown. */
export function startFactsRelay(
  deps: Pick<Parameters<typeof createFactsRelay>[0], 'pool' | 'registry' | 'clock' | 'log'> & {
    readonly shutdown: Pick<Shutdown, 'on'>;
  },
  identity: Pick<IdentityClient, 'handOver'>,
): void {
  const { pool, registry, clock, log, shutdown } = deps;
  const relay = createFactsRelay({
    pool,
    registry,
    clock,
    log,
    // Identity checks each fact, and refuses unknown types.
    handOver: identity.handOver,
    isRefusal: (error) => error instanceof FactsRefused,
    maxFacts: MAX_FACTS,
  });
  relay.start();
  shutdown.on('workers', 'facts', relay.stop);
}
