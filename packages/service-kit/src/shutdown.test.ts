import { mock } from 'node:test';
import { createLogger } from './telemetry/logging.js';
import { createShutdown, shutdownPhases } from './shutdown.js';

const nextTurn = () => new Promise(setImmediate);
const quiet = createLogger('test', 'silent');

test('runs the phases one after another, and closes within a phase in reverse order', async () => {
  const shutdown = createShutdown(quiet);
  const events: string[] = [];
  for (const phase of shutdownPhases.toReversed())
    for (const name of ['first', 'second'])
      shutdown.on(phase, name, async () => {
        events.push(`${phase} ${name}`);
        await new Promise((resolve) => setImmediate(resolve));
        events.push(`${phase} done`);
      });
  await shutdown.run('test');
  expect(events).toEqual(
    shutdownPhases.flatMap((phase) => [
      `${phase} second`,
      `${phase} first`,
      `${phase} done`,
      `${phase} done`,
    ]),
  );
});

test('logs a step that fails, at once or later, and continues', async () => {
  let lines = '';
  const shutdown = createShutdown(createLogger('test', 'error', { write: (line) => (lines += line) }));
  const closed: string[] = [];
  shutdown.on('http', 'broken', () => {
    throw new Error('first reason');
  });
  shutdown.on('http', 'rejecting', () => Promise.reject(new Error('second reason')));
  shutdown.on('close', 'database', () => closed.push('database'));
  await shutdown.run('test');
  expect(closed).toEqual(['database']);
  expect(lines).toContain('first reason');
  expect(lines).toContain('second reason');
});

test('abandons a step that never ends after the time limit of its phase', async () => {
  mock.timers.enable({ apis: ['setTimeout'] });
  try {
    let lines = '';
    const shutdown = createShutdown(createLogger('test', 'error', { write: (line) => (lines += line) }));
    const closed: string[] = [];
    shutdown.on('flush', 'stuck', () => new Promise(() => undefined));
    shutdown.on('close', 'database', () => closed.push('database'));
    const done = shutdown.run('test');
    await nextTurn();
    mock.timers.tick(4_999);
    await nextTurn();
    expect(closed).toEqual([]);
    mock.timers.tick(1);
    await done;
    expect(closed).toEqual(['database']);
    expect(lines).toContain('took longer than 5000 ms');
  } finally {
    mock.timers.reset();
  }
});

test('runs once however often it is called, and all callers wait for it', async () => {
  const shutdown = createShutdown(quiet);
  let runs = 0;
  shutdown.on('close', 'count', () => {
    runs += 1;
  });
  await Promise.all([shutdown.run('a'), shutdown.run('b')]);
  await shutdown.run('c');
  expect(runs).toBe(1);
});

test('ends a start that is still in progress at its next step', async () => {
  const shutdown = createShutdown(quiet);
  const done = shutdown.run('test');
  expect(() => {
    shutdown.on('workers', 'crawl workers', () => undefined);
  }).toThrow('The process is stopping: crawl workers is not started');
  await done;
});
