import { type IdentityClient, openIdentityClient } from '@platform/auth';
import type { ServiceDeps } from '@platform/service-kit';
import type { MailConfig } from './config.js';
import { createTransportPools, type TransportPools } from './features/delivery/pools.js';
import type { TransportLimits } from './features/delivery/transport-options.js';
import { type BackgroundSends, createBackgroundSends } from './features/emails/background-sends.js';
import { createJournal, type Journal } from './features/journal/service.js';
import type { JournalTimes } from './features/journal/upkeep.js';
import type { Resources } from './resources.js';

interface WorkerDeps extends ServiceDeps<MailConfig, Resources> {
  readonly limits: TransportLimits;
  /** Replaces the journal's default times. Tests set it. */
  readonly journalTimes?: JournalTimes;
}

export interface Workers {
  readonly identity: IdentityClient;
  readonly pools: TransportPools;
  readonly journal: Journal;
  readonly backgroundSends: BackgroundSends;
}

/** Starts everything that runs independently of requests, and registers each part with the shutdown. */
export async function startWorkers(deps: WorkerDeps): Promise<Workers> {
  const { config, limits, resources, shutdown, clock, journalTimes } = deps;
  const { pool, heartbeatPool, log } = resources;
  const identity = openIdentityClient({ config, log, shutdown, clock });
  const pools = createTransportPools({ ...limits, maxPools: config.SMTP_POOLS_MAX });
  const journal = createJournal({
    pool,
    heartbeatPool,
    clock,
    log,
    unsentKeptDays: config.UNSENT_MAILS_KEPT_DAYS,
    recordsKeptDays: config.RECORDS_KEPT_DAYS,
    ...(journalTimes && { times: journalTimes }),
  });
  const backgroundSends = createBackgroundSends(config.SEND_DEADLINE_MS);
  await identity.start();
  // Deliberately not awaited: while the database is unreachable, the service still listens and reports that it isn't ready.
  void journal.start();
  shutdown.on('http', 'accepted mails', backgroundSends.stop);
  shutdown.on('workers', 'SMTP pools', pools.close);
  shutdown.on('flush', 'journal', journal.stop);
  return { identity, pools, journal, backgroundSends };
}
