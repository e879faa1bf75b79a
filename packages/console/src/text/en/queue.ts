import { createTexts } from '../isolate.ts';

/** The texts of the queue. */
export const queue = createTexts({
  intro: 'What waits, runs and failed, as it is now. It refreshes by itself.',
  counts: {
    waiting: 'Waiting',
    active: 'Running',
    delayed: 'Scheduled',
    paused: 'Paused',
    completed: 'Completed in total',
    failed: 'Failed in total',
  },
  byConnector: 'By connector',
  lastHour: 'The last hour',
  chart: (completed: number, failed: number) =>
    `In the last hour ${completed} ${completed === 1 ? 'run' : 'runs'} completed and ${failed} failed`,
  from: 'An hour ago',
  to: 'Now',
  emptyTitle: 'Nothing is scheduled',
  emptyAdvice: 'Each connector that has a schedule is shown here.',
  columns: {
    connector: 'Connector',
    state: 'State',
    waiting: 'Waiting for',
    completed: 'Completed',
    failed: 'Failed',
  },
});
