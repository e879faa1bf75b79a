import { performance } from 'node:perf_hooks';
import { connectors } from '@platform/events';
import { Queue, Worker } from 'bullmq';
import type { Backing } from './environment.js';

/* The baseline: BullMQ alone on the same Redis. */

type Connection = Backing['redis'];

const PATTERN = { pattern: '15 2 * * *', tz: 'UTC' };
const template = { name: 'crawl', data: { orgId: 'bench' }, opts: { removeOnComplete: { count: 10 } } };
const CONCURRENCY = 5;
const BULK = 1_000;

export interface RawQueue {
  /** The latencies of `upsertJobScheduler` and `getJobScheduler`, in milliseconds, called one after the other. */
  measureLatencies(rounds: number): Promise<{ upsert: number[]; get: number[] }>;
  /** `upsertJobScheduler` calls per second; each caller changes its own schedulers in turn, one per connector. */
  measureUpserts(callers: number, seconds: number): Promise<number>;
  close(): Promise<void>;
}

async function time(into: number[], action: () => Promise<unknown>): Promise<void> {
  const startedAt = performance.now();
  await action();
  into.push(performance.now() - startedAt);
}

export function openRawQueue(connection: Connection): RawQueue {
  const queue = new Queue('raw', { connection });
  return {
    async measureLatencies(rounds) {
      const [upsert, get]: [number[], number[]] = [[], []];
      for (let round = 0; round < rounds; round += 1) {
        await time(upsert, () => queue.upsertJobScheduler('one', PATTERN, template));
        await time(get, () => queue.getJobScheduler('one'));
        await queue.removeJobScheduler('one');
      }
      return { upsert, get };
    },
    async measureUpserts(callers, seconds) {
      const startedAt = performance.now();
      const endsAt = startedAt + seconds * 1_000;
      let count = 0;
      const call = async (_value: unknown, caller: number) => {
        for (; performance.now() < endsAt; count += 1)
          await queue.upsertJobScheduler(`caller-${caller}-${count % connectors.length}`, PATTERN, template);
      };
      await Promise.all(Array.from({ length: callers }, call));
      return (count * 1_000) / (performance.now() - startedAt);
    },
    close: () => queue.close(),
  };
}

/** Measures empty jobs per second, through as many queues and workers as the service has. */
export async function measureRawRuns(connection: Connection, count: number): Promise<number> {
  const names = connectors.map((connector) => `raw-${connector}`);
  const queues = names.map((name) => new Queue(name, { connection }));
  const jobs = Array.from({ length: Math.ceil(count / queues.length) }, () => template);
  for (const queue of queues)
    for (let from = 0; from < jobs.length; from += BULK) await queue.addBulk(jobs.slice(from, from + BULK));
  const total = jobs.length * queues.length;
  let done = 0;
  const startedAt = performance.now();
  const workers: Worker[] = [];
  await new Promise<void>((resolve) => {
    const onCompleted = () => {
      if ((done += 1) === total) resolve();
    };
    for (const name of names) {
      const worker = new Worker(name, () => Promise.resolve(), { connection, concurrency: CONCURRENCY });
      worker.on('completed', onCompleted);
      workers.push(worker);
    }
  });
  const tookSeconds = (performance.now() - startedAt) / 1_000;
  await Promise.all([...workers, ...queues].map((each) => each.close()));
  return total / tookSeconds;
}
