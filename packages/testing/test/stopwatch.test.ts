import { setTimeout as delay } from 'node:timers/promises';
import { startStopwatch } from '../src/index.js';

/** Blocks like a machine that gives the processor to other processes. */
function holdUp(ms: number): void {
  const end = performance.now() + ms;
  while (performance.now() < end);
}

test('counts the time in which this process can run, and hardly the time in which it cannot', async () => {
  const running = startStopwatch();
  // Each of these turns lets it count, however late they come on a busy machine.
  for (let turn = 0; turn < 20; turn += 1) await delay(5);
  expect(running.stop()).toBeGreaterThan(50);
  const waiting = startStopwatch();
  holdUp(150);
  await delay(1);
  expect(waiting.stop()).toBeLessThan(100);
});
