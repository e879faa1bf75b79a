import { setTimeout as delay } from 'node:timers/promises';
import { startStopwatch } from '../src/index.js';

/** Blocks like a machine that gives the processor to other processes. */
function holdUp(ms: number): void {
  const end = performance.now() + ms;
  while (performance.now() < end);
}

test('counts the time in which this process can run', async () => {
  const watch = startStopwatch();
  // Each of these turns lets it count, however late they come on a busy machine.
  for (let turn = 0; turn < 40; turn += 1) await delay(5);
  expect(watch.stop()).toBeGreaterThan(100);
});

test('hardly counts the time in which this process cannot run', async () => {
  const watch = startStopwatch();
  for (let turn = 0; turn < 5; turn += 1) {
    holdUp(100);
    await delay(1);
  }
  expect(watch.stop()).toBeLessThan(250);
});
