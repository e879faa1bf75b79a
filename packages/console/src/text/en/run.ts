import { createTexts } from '../isolate.ts';

/** The texts of the page of one run. */
export const run = createTexts({
  title: (connector: string) => `Run of ${connector}`,
  cancel: 'Cancel the run…',
  cancelTitle: (connector: string) => `Cancel the run of ${connector}?`,
  cancelWarning:
    'It is aborted within seconds and publishes no event. The schedule stays: the next run is at its next time.',
  cancelSubmit: 'Cancel the run',
  cancelled: (connector: string) => `The run of ${connector} is cancelled.`,
  started: 'Started',
  ended: 'Ended',
  notYet: 'Not yet',
  progress: 'Progress',
  attempts: 'Attempts',
  attemptsOf: (count: number, max: number) => `${count} of at most ${max}`,
  timeline: (count: number, seconds: number) =>
    `${count === 1 ? 'One attempt' : `${count} attempts`} within ${seconds.toFixed(1)} seconds`,
  columns: { number: 'No.', outcome: 'Outcome', duration: 'Took', reason: 'Reason' },
  noAttempt: 'It was not started',
  skippedAdvice: 'The reason is above. The schedule runs again at its next time.',
  waitingAdvice: 'It waits for a worker.',
  cancelledAdvice: 'It was cancelled before an attempt began.',
  elapsed: (duration: string) => `${duration} so far`,
  progressOf: (percent: number) => `${percent} % done`,
  event: 'Sync event',
  noEvent: 'It has published none: only a completed run does.',
  eventGone: 'It was published, and is no longer kept.',
  allEventsOf: (connector: string) => `All events of ${connector}`,
});
