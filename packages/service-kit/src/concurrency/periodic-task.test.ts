import { setImmediate as turn } from 'node:timers/promises';
import { createPeriodicTask } from './periodic-task.js';

/** A task whose runs the test ends by hand. */
function createHeldTask(intervalMs = 60_000) {
  const ends: { resolve(): void; reject(error: unknown): void }[] = [];
  const errors: unknown[] = [];
  const task = createPeriodicTask({
    intervalMs,
    run: () => new Promise<void>((resolve, reject) => ends.push({ resolve, reject })),
    onError: (error) => errors.push(error),
  });
  return { task, ends, errors };
}

test('a task that is woken during a run runs once more after it', async () => {
  const { task, ends } = createHeldTask();
  for (let count = 0; count < 3; count += 1) task.wake();
  expect(ends).toHaveLength(1);
  ends[0]?.resolve();
  await turn();
  expect(ends).toHaveLength(2);
  ends[1]?.resolve();
  await turn();
  expect(ends).toHaveLength(2);
});

test('run waits for the run in progress and reports its error to the caller', async () => {
  const { task, ends, errors } = createHeldTask();
  const both = Promise.allSettled([task.run(), task.run()]);
  ends[0]?.reject(new Error('no'));
  expect((await both).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  expect([ends.length, errors]).toEqual([1, []]);
});

test('an error of a run that nobody waits for is reported, and the task runs again', async () => {
  const { task, ends, errors } = createHeldTask();
  task.wake();
  ends[0]?.reject('no');
  await turn();
  task.wake();
  expect([ends.length, errors]).toEqual([2, ['no']]);
  ends[1]?.resolve();
});

test('the timer starts no second run while one is in progress', () => {
  jest.useFakeTimers();
  try {
    const { task, ends } = createHeldTask(1_000);
    task.start();
    jest.advanceTimersByTime(5_000);
    expect(ends).toHaveLength(1);
    void task.stop();
  } finally {
    jest.useRealTimers();
  }
});

test('stop waits for the run in progress and lets no other follow', async () => {
  const { task, ends } = createHeldTask();
  task.wake();
  task.wake();
  let isStopped = false;
  const stopped = task.stop().then(() => {
    isStopped = true;
  });
  await turn();
  expect(isStopped).toBe(false);
  ends[0]?.resolve();
  await stopped;
  task.wake();
  await turn();
  expect(ends).toHaveLength(1);
});
