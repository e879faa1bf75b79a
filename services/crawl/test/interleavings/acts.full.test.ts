import { listSets } from '@platform/testing';
import { startCrawlActs } from './acting.js';
import { acts } from './acts.js';

const acting = await startCrawlActs();
afterAll(() => acting.close());

type Name = keyof typeof acts;

const sets = listSets<Name>(Object.keys(acts) as Name[], [
  ['the worker completes', 'an administrator cancels the run'],
  ['the worker completes', 'an administrator pauses the schedule'],
  ['the worker completes', 'an administrator removes the schedules'],
  ['the worker completes', 'the worker is lost', 'another worker claims'],
  ['the worker reports', 'the worker is lost', 'another worker claims'],
  ['the worker fails', 'the worker is lost'],
  ['the worker hands back', 'another worker claims'],
  ['the worker continues', 'an administrator pauses the schedule'],
  ['the worker reports', 'an administrator removes the instance', 'a lock on the state'],
  ['the worker of the cancelled run reports', 'an administrator resets the state of the cancelled run'],
  [
    'the worker of the cancelled run reports',
    'an administrator resets the state of the cancelled run',
    'a lock on the cancelled run',
  ],
  ['the worker of the cancelled run reports', 'an administrator removes the instance of the cancelled run'],
  ['an administrator requests a run', 'an administrator pauses the schedule', 'the worker completes'],
  ['the source rings', 'an administrator pauses the schedule'],
  ['the source rings', 'the dispatcher dispatches'],
  ['the dispatcher dispatches', 'another dispatcher dispatches'],
  ['the dispatcher dispatches', 'an administrator pauses what is due'],
  ['the one-off run completes', 'an administrator pauses the one-off schedule'],
  ['the one-off run completes', 'an administrator cancels the one-off run'],
  ['the place is claimed', 'the place is claimed elsewhere'],
  ['the place is claimed', 'an administrator pauses what waits'],
  ['an administrator resumes the schedule', 'an administrator resumes it, too'],
]);

test.each(sets.map((names) => [names.join(', '), names] as const))('OPS-30: %s', async (_title, names) => {
  const { tried } = await acting.explore(names, acts);
  expect(tried).toBeGreaterThan(0);
});
