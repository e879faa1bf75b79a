import { backoffMs } from '@platform/service-kit';
import { createWakeSignal } from './wake-signal.js';
import { type HeldPartitions, relayUntilStopped } from './loop.js';
import { registerRelayMetrics } from './metrics.js';
import { createNotifier } from './notifier.js';
import { createOutageLog } from './outage-log.js';
import { type EventRelay, type EventRelayOptions, type RelayState, syncEvents } from './options.js';
import { createPublisher, KafkaAwayError, type Publisher } from './publisher.js';
import { FREE_CHANNEL, readDepth, tryLead, yieldLead } from './queries.js';
import { openSession, type Session } from './session.js';

/*
 * The states of a relay. Every replica runs one; a session lock in the outbox's database lets one of them lead.
 *
 *   stopped   → standby   start().
 *   standby   → relaying  The lock was free, Kafka answers and the topic exists.
 *   standby   → waiting   The database is down; or the lock was free, but Kafka is down: the lock is released, so that
 *                         a replica which can reach Kafka can acquire it.
 *   relaying  → standby   The topic has another number of partitions: the lock is released, and the next leader assigns keys
 *                         again.
 *   relaying  → waiting   The database connection is lost, and the lock with it; or Kafka no longer answers, and the lock is
 *                         released.
 *   waiting   → standby   After a pause that doubles from 0.1 to 2 s while faults follow each other.
 *   any       → stopped   stop(): the current batch is finished and marked, then the lock is released.
 *
 * A leader that is killed loses the lock when the server sees its connection close; the others try to acquire it four
 * times a second. They do not block on it, because a waiting statement keeps a snapshot, which holds vacuum back.
 *
 * An event is marked after Kafka has acknowledged it. After a crash or a lost connection between the two, the next leader
 * sends it again: delivery is at least once. It starts with the oldest unmarked event, so the first copies of a key's
 * events are always in order; consumers drop later copies by their id.
 *
 * A partition that does not accept its next event is held, while the others go on (loop.ts). That includes an event that
 * Kafka refuses because of its content, for example because it is too large for the topic: it is published once the topic's
 * settings allow it, is never dropped, and never overtaken.
 */

const DEFAULT_PARTITIONS = 12;
const STANDBY_MS = 250;
const START_GRACE_MS = 30_000;
/** After so long without a fault, the next one is logged again, and the pauses begin with the shortest. */
const CALM_MS = 30_000;

/** Creates a relay, which does nothing before `start`. */
export function createEventRelay(options: EventRelayOptions): EventRelay {
  const { log, kafka, events = syncEvents, partitions = DEFAULT_PARTITIONS } = options;
  const { topic = events.topic } = options;
  const commitSignal = createWakeSignal();
  const lockSignal = createWakeSignal();
  const notifier = createNotifier(() => session?.client);
  let state: RelayState = 'stopped';
  let running: Promise<void> | undefined;
  let ending = new AbortController();
  let session: Session | undefined;
  const held: HeldPartitions = new Map();
  const outages = createOutageLog();
  let failures = 0;
  /** Until then a Kafka that does not answer is no outage. */
  let warnFrom = 0;
  /** The time since which there has been no fault. */
  let healthySince: number | undefined;

  const metrics =
    options.registry &&
    registerRelayMetrics(options.registry, events.metricPrefix, {
      depth: async () => session && readDepth(session.client).catch(() => undefined),
      isLeading: () => state === 'relaying',
      heldPartitions: () => held.size,
    });

  function onNotice(channel: string): void {
    if (state === 'relaying') commitSignal.wake();
    else if (state === 'standby' && channel === FREE_CHANNEL) lockSignal.wake();
  }

  async function lead({ client, failed }: Session): Promise<void> {
    let publisher: Publisher | undefined;
    try {
      publisher = await createPublisher({ kafka, events, topic, partitions, log });
      const { partitionCount } = publisher;
      log.info({ topic, partitionCount }, failures > 0 ? 'events flow again' : 'publishing events');
      state = 'relaying';
      warnFrom = 0;
      healthySince ??= performance.now();
      const { signal } = ending;
      const around = { client, failed, publisher, held, outages, wakeSignal: commitSignal };
      await relayUntilStopped({ ...around, topicCheckMs: options.topicCheckMs, metrics, log, signal });
    } finally {
      state = 'standby';
      held.clear();
      await publisher?.close();
      await yieldLead(client);
    }
  }

  async function work(): Promise<void> {
    session ??= await openSession(options.connectionString, log, onNotice);
    const fault = session.failed();
    if (fault) throw fault;
    if (await tryLead(session.client)) await lead(session);
    else {
      healthySince ??= performance.now();
      await lockSignal.sleep(STANDBY_MS);
    }
  }

  async function recover(error: unknown): Promise<void> {
    state = 'waiting';
    const isKafka = error instanceof KafkaAwayError;
    if (!isKafka) await closeSession();
    if (healthySince !== undefined && performance.now() - healthySince > CALM_MS) {
      failures = 0;
      outages.end('relay');
    }
    healthySince = undefined;
    failures += 1;
    metrics?.failed(isKafka ? 'kafka' : 'database');
    const message = `events wait: ${isKafka ? error.message : 'the database is not available'}`;
    const err = isKafka ? error.cause : error;
    const isStarting = isKafka && error.isUnavailable && performance.now() < warnFrom;
    // What a database answers while it restarts says nothing more.
    const reason = isKafka ? err : message;
    if (isStarting && failures === 1) log.info({ topic }, 'Kafka does not answer yet: events wait');
    else if (!isStarting && outages.isWorthLogging('relay', reason))
      log.warn({ err, topic, failures }, message);
    else log.debug({ err, topic, failures }, message);
    await lockSignal.sleep(backoffMs(failures));
  }

  async function closeSession(): Promise<void> {
    const closing = session;
    session = undefined;
    await closing?.close();
  }

  async function run({ signal }: AbortController): Promise<void> {
    while (!signal.aborted) {
      state = 'standby';
      await work().catch(recover);
    }
    await closeSession();
    state = 'stopped';
  }

  return {
    start() {
      if (running) return;
      ending = new AbortController();
      warnFrom = performance.now() + (options.startGraceMs ?? START_GRACE_MS);
      running = run(ending);
    },
    wake() {
      if (state === 'relaying') commitSignal.wake();
      else if (state === 'standby') notifier.notify();
    },
    async stop() {
      ending.abort();
      commitSignal.wake();
      lockSignal.wake();
      await running;
      running = undefined;
    },
    get state() {
      return state;
    },
  };
}
