import type { Logger } from '@platform/service-kit';
import type pg from 'pg';
import type { WakeSignal } from './wake-signal.js';
import type { Backlog, Backlogs } from './backlogs.js';
import type { RelayMetrics } from './metrics.js';
import { PartitionsChangedError, type Publisher } from './publisher.js';
import { markPublished } from './queries.js';

export interface ProbeDependencies {
  readonly client: pg.Client;
  readonly backlogs: Backlogs;
  /**
   * Opens a publisher apart from the relay's own, so that a hanging broker delays no other events.
   * @throws PartitionsChangedError when it would assign keys to other partitions than the relay's own.
   */
  readonly openPublisher: () => Promise<Publisher>;
  /** Woken after each probe. */
  readonly wakeSignal: WakeSignal;
  readonly metrics: RelayMetrics | undefined;
  readonly log: Pick<Logger, 'info' | 'warn'>;
}

/** Sends the first events of held backlogs again, concurrently with the relay's work. */
export function createProbe(deps: ProbeDependencies) {
  const { client, backlogs, metrics, log } = deps;
  let publisher: Publisher | undefined;
  let running: Promise<void> | undefined;
  let fault: PartitionsChangedError | undefined;

  /** Sends the first events. Backlogs that are still `probing` afterwards were not accepted. */
  async function offer(due: readonly Backlog[]): Promise<void> {
    publisher ??= await deps.openPublisher();
    const { results, reconnectFault } = await publisher.publish(
      new Map(due.map(({ partition, head }) => [partition, [head]])),
    );
    if (reconnectFault) await drop();
    const published = new Set(results.flatMap((result) => result.published));
    await markPublished(
      client,
      [...published].map(({ event_id: id }) => id),
    );
    for (const backlog of due)
      if (published.has(backlog.head)) {
        backlogs.release(backlog);
        log.info({ partition: backlog.partition }, 'Kafka accepts the events of a partition again');
      }
  }

  async function drop(): Promise<void> {
    const dropped = publisher;
    publisher = undefined;
    await dropped?.close();
  }

  async function run(due: readonly Backlog[]): Promise<void> {
    // Kafka or the database is unavailable, which the relay itself detects.
    await offer(due).catch((error: unknown) => {
      if (error instanceof PartitionsChangedError) fault = error;
    });
    for (const { partition, state, head } of due)
      if (state === 'probing') {
        metrics?.failed('partition');
        backlogs.hold(partition, head);
      }
  }

  return {
    /** Starts a probe of the due backlogs unless one is in progress; returns at once. */
    start(): void {
      if (running || fault) return;
      const due = backlogs.takeDue();
      if (due.length === 0) return;
      running = run(due).finally(() => {
        running = undefined;
        deps.wakeSignal.wake();
      });
    },

    /** Returns why the relay must restart, if it must. Nothing is probed until then. */
    failed: (): Error | undefined => fault,
    async close(): Promise<void> {
      await running;
      await drop();
    },
  };
}
