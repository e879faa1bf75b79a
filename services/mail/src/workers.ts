import { type IdentityClient, openIdentityClient } from '@platform/auth';
import { createEgress, type SecretBox, type ServiceDeps } from '@platform/service-kit';
import type { MailConfig } from './config.js';
import { createTransportPools, type TransportPools } from './features/delivery/pools.js';
import type { TransportLimits } from './features/delivery/transport-options.js';
import { createDispatcher, type Dispatcher } from './features/queue/dispatcher.job.js';
import { createJournal, type Journal } from './features/queue/journal.js';
import { createUpkeep, type QueueTimes, standardTimes, type Upkeep } from './features/queue/upkeep.job.js';
import { createRequestToken, type TokenEndpoints } from './features/smtp-oauth/request-token.js';
import { createSmtpTokens, type SmtpTokens } from './features/smtp-oauth/tokens.js';
import type { Resources } from './resources.js';

interface WorkerDeps extends ServiceDeps<MailConfig, Resources> {
  readonly limits: TransportLimits;
  readonly box: SecretBox;
  /** Replaces the queue's default times. Tests set it. */
  readonly queueTimes?: QueueTimes;
  /** Replaces the token endpoints of Microsoft and Google. Tests set it. */
  readonly tokenEndpoints?: TokenEndpoints;
}

export interface Workers {
  readonly identity: IdentityClient;
  readonly tokens: SmtpTokens;
  readonly pools: TransportPools;
  readonly journal: Journal;
  readonly dispatcher: Dispatcher;
  readonly upkeep: Upkeep;
}

/** Of a token endpoint: the largest answer in bytes, the connections at once, and the timeout. */
const tokenLimits = { maxAnswerBytes: 65_536, maxConnections: 16, timeoutMs: 10_000 };

function openTokens({
  config,
  limits,
  box,
  resources,
  shutdown,
  clock,
  tokenEndpoints,
}: WorkerDeps): SmtpTokens {
  const egress = createEgress(config.SMTP_TOKEN_ALLOWED_TARGETS, tokenLimits, limits.resolveHost);
  shutdown.on('close', 'token endpoints', () => egress.agent.destroy());
  return createSmtpTokens({
    pool: resources.pool,
    box,
    requestToken: createRequestToken(egress, tokenEndpoints),
    clock,
    log: resources.log,
  });
}

/** Starts everything that runs independently of requests, and registers each part with the shutdown. */
export async function startWorkers(deps: WorkerDeps): Promise<Workers> {
  const { config, limits, resources, shutdown, clock, queueTimes: times = standardTimes } = deps;
  const { pool, journalPool, log } = resources;
  const identity = openIdentityClient({ config, log, shutdown, clock });
  const tokens = openTokens(deps);
  const pools = createTransportPools({ ...limits, maxPools: config.SMTP_POOLS_MAX, tokens });
  const { leaseMs } = times;
  const journal = createJournal({ pool, journalPool, clock, log, leaseMs });
  const dispatcher = createDispatcher({
    pool,
    clock,
    log,
    journal,
    leaseMs,
    connectionsPerOrganisation: config.SMTP_CONNECTIONS_PER_POOL,
    maxInFlight: config.SENDS_MAX,
    graceMs: config.SEND_DEADLINE_MS,
  });
  const upkeep = createUpkeep({
    pool,
    clock,
    log,
    times,
    unsentKeptDays: config.UNSENT_MAILS_KEPT_DAYS,
    recordsKeptDays: config.RECORDS_KEPT_DAYS,
    onQueued: dispatcher.wake,
  });
  await identity.start();
  // Deliberately not awaited: while the database is unreachable, the service still listens and reports that it isn't ready.
  void upkeep.start();
  shutdown.on('http', 'queued mails', dispatcher.stop);
  shutdown.on('workers', 'SMTP pools', pools.close);
  shutdown.on('flush', 'journal', async () => {
    await Promise.all([upkeep.stop(), journal.stop()]);
  });
  return { identity, tokens, pools, journal, dispatcher, upkeep };
}
