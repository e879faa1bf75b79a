import type { Logger } from '@platform/service-kit';
import { forEachConcurrently } from './for-each-concurrently.js';

const log = { warn: () => undefined } as unknown as Logger;

it('continues with the other items when one fails', async () => {
  const done: number[] = [];
  const work = (item: number) => {
    if (item === 2) return Promise.reject(new Error('bad'));
    done.push(item);
    return Promise.resolve();
  };
  await forEachConcurrently([1, 2, 3, 4], work, { log, what: 'work', concurrency: 2 });
  expect(done).toEqual([1, 3, 4]);
});

it('gives up when all items fail', async () => {
  const items = Array.from({ length: 1_000 }, (_item, index) => index);
  let calls = 0;
  const work = () => {
    calls += 1;
    return Promise.reject(new Error('unavailable'));
  };
  await expect(forEachConcurrently(items, work, { log, what: 'work' })).rejects.toThrow('unavailable');
  expect(calls).toBeLessThan(100);
});
