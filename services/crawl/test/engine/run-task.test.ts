import { createLogger } from '@platform/service-kit';
import { waitFor } from '@platform/testing';
import type { ClaimedRow } from '../../src/db/claim-runs.js';
import { runTask } from '../../src/engine/run-task.js';
import { type Task, RunStopped } from '../../src/engine/tasks/task.js';

/**
 * Runs a task.
 *
 * @param unavailableForMs - the time for which its endpoint has been unavailable before it accepted the task.
 */
function run(task: Task, unavailableForMs: number, saved: number[] = []): Promise<void> {
  const now = Date.now();
  const claimed = {
    id: 'run',
    claimCount: 1,
    scheduledFor: new Date(now),
    deadlineAt: new Date(now + 60_000),
    unavailableSince: new Date(now - unavailableForMs),
    parameters: { timeoutMs: 60_000 },
  } as ClaimedRow;
  return runTask(
    {
      activeRuns: {
        add: () => new AbortController(),
        remove: () => undefined,
        isStopped: () => false,
        stopAll: () => undefined,
        renew: () => Promise.resolve(),
        start: () => undefined,
        stop: () => undefined,
      },
      getTask: () => task,
      saveProgress: (_run, progress) => Promise.resolve(saved.push(progress)),
      saveEndpointState: () => Promise.resolve(),
      saveTaskLocation: () => Promise.resolve(),
      endpointGraceMs: 10_000,
      clock: () => now,
      log: createLogger('test', 'silent'),
      stopping: new AbortController().signal,
    },
    { run: claimed, taskLocation: undefined },
  );
}

test('an attempt has one grace, before and after its endpoint has accepted the task', async () => {
  let leftMs = 0;
  const task: Task = (_order, context) => {
    context.accepted('http://127.0.0.1/tasks/7');
    leftMs = context.unavailable('The endpoint answered 503');
    return new Promise(() => undefined);
  };
  await expect(run(task, 9_900)).rejects.toEqual(
    new RunStopped('unavailable', 'The endpoint answered 503, unavailable for 10 s in total'),
  );
  expect(leftMs).toBe(100);
});

test('the progress of a run never goes back, and does not reach 100 before it is completed', async () => {
  const saved: number[] = [];
  const task: Task = async (_order, context) => {
    context.accepted();
    context.progress(1e9);
    context.progress(50);
    await waitFor(() => saved.length > 0, { what: 'the progress' });
  };
  await run(task, 0, saved);
  expect(saved).toEqual([99]);
});
