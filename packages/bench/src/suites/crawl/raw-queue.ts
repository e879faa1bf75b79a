import { connectors } from '@platform/events';
import { Queue } from 'bullmq';
import { repeat, time } from '../../load/load.js';
import type { Fixture } from '../../runner/fixture.js';
import { startBacking } from './environment.js';

const PATTERN = { pattern: '15 2 * * *', tz: 'UTC' };
const template = { name: 'crawl', data: { orgId: 'bench' }, opts: { removeOnComplete: { count: 10 } } };

/** The baseline: BullMQ alone on the same Redis. */
export async function openRawQueue(fixture: Fixture) {
  const { redis } = await fixture.share(startBacking);
  const queue = new Queue('raw', { connection: { host: '127.0.0.1', port: redis.port } });
  fixture.keep({ stop: () => queue.close() });
  let count = 0;
  return {
    /** Collects the latencies of `upsertJobScheduler` and `getJobScheduler`, called one after the other. */
    async measure(rounds: number, into: { readonly upsert: number[]; readonly get: number[] }) {
      for (let round = 0; round < rounds; round += 1) {
        await time(into.upsert, () => queue.upsertJobScheduler('one', PATTERN, template));
        await time(into.get, () => queue.getJobScheduler('one'));
        await queue.removeJobScheduler('one');
      }
    },
    /** Upserts per second; each caller changes its own schedulers in turn, one per connector. */
    upsert: (callers: number, seconds: number): Promise<number> =>
      repeat(
        (caller) =>
          queue.upsertJobScheduler(`caller-${caller}-${(count += 1) % connectors.length}`, PATTERN, template),
        callers,
        seconds,
      ),
  };
}
