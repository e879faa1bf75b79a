import { setTimeout as delay } from 'node:timers/promises';
import { startStopwatch } from '../src/index.js';

/** Blocks like a machine that gives the processor to other processes. */
function holdUp(ms: number): void {
  const end = performance.now() + ms;
  while (performance.now() < end);
}

test('counts the time in which this process can run', async () => {
  const watch = startStopwatch();
  await delay(200);
  expect(watch.stop()).toBeGreaterThan(20);
});

test('hardly counts the time in which this process cannot run', async () => {
  const watch = startStopwatch();
  for (let turn = 0; turn < 5; turn += 1) {
    holdUp(100);
    await delay(1);
  }
  expect(watch.stop()).toBeLessThan(250);
});
