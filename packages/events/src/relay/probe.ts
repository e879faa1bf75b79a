import type { Logger } from '@platform/service-kit';
import type pg from 'pg';
import type { WakeSignal } from './wake-signal.js';
import type { Backlog, Backlogs } from './backlogs.js';
import type { RelayMetrics } from './metrics.js';
import { PartitionsChangedError, type Publisher } from './publisher.js';
import { markPublished, type PendingEvent } from './queries.js';

export interface ProbeDependencies {
  readonly client: pg.Client;
  readonly backlogs: Backlogs;
  /**
   * Not the relay's own: a broker that hangs must not keep the others from their events.
   * @throws PartitionsChangedError when it would assign keys to other partitions than the relay's own.
   */
  readonly openPublisher: () => Promise<Publisher>;
  /** Rung when something has been offered. */
  readonly wakeSignal: WakeSignal;
  readonly metrics: RelayMetrics | undefined;
  readonly log: Pick<Logger, 'info' | 'warn' | 'error'>;
}

/** Offers the first events of what waits, beside the relay's work. */
export interface Probe {
  /** Offers those that are due, unless it is at it; returns at once. */
  start(): void;
  /** Why the relay must begin again, if it must: while it goes on, nothing more is offered. */
  failed(): Error | undefined;
  close(): Promise<void>;
}

/** Refused events are offered one by one; the next ones have their turn soon. */
const AT_ONCE = 100;

export function createProbe(deps: ProbeDependencies): Probe {
  const { client, backlogs, metrics, log } = deps;
  let publisher: Publisher | undefined;
  let running: Promise<void> | undefined;
  let fault: PartitionsChangedError | undefined;

  function release(backlog: Backlog, head: PendingEvent): void {
    backlogs.release(backlog, head);
    const { kind, name } = backlog;
    log.info({ [kind]: name }, `sync events of a ${kind} flow again`);
  }

  /** Those that are still `probing` in the end were not taken. */
  async function offer(due: readonly (Backlog & { head: PendingEvent })[]): Promise<void> {
    publisher ??= await deps.openPublisher();
    const batches = new Map<number, PendingEvent[]>();
    for (const { head } of due) {
      const partition = publisher.toPartition(head);
      batches.set(partition, [...(batches.get(partition) ?? []), head]);
    }
    const { results, reconnectFault } = await publisher.publish(batches);
    if (reconnectFault) await drop();
    const published = new Set(results.flatMap((result) => result.published));
    await markPublished(
      client,
      [...published].map(({ event_id: id }) => id),
    );
    for (const backlog of due) if (published.has(backlog.head)) release(backlog, backlog.head);
  }

  async function drop(): Promise<void> {
    const dropped = publisher;
    publisher = undefined;
    await dropped?.close();
  }

  async function run(due: readonly Backlog[]): Promise<void> {
    const withHead = due.filter(
      (backlog): backlog is Backlog & { head: PendingEvent } => backlog.head !== undefined,
    );
    // Kafka or the database is away: the relay itself finds out.
    await offer(withHead).catch((error: unknown) => {
      if (error instanceof PartitionsChangedError) fault = error;
    });
    for (const { kind, name, state, head } of withHead)
      if (state === 'probing') {
        metrics?.failed(kind === 'key' ? 'refused' : 'partition');
        backlogs.hold(kind, name, head);
      }
  }

  return {
    start() {
      if (running || fault) return;
      const due = backlogs.takeDue(AT_ONCE);
      if (due.length === 0) return;
      running = run(due).finally(() => {
        running = undefined;
        deps.wakeSignal.wake();
      });
    },
    failed: () => fault,
    async close() {
      await running;
      await drop();
    },
  };
}
