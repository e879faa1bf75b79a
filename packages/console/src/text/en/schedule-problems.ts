import { createTexts } from '../isolate.ts';

/** The texts that explain why a run did not start in time. */
export const scheduleProblems = createTexts({
  title: 'Why it does not run',
  pausedAdvice: 'Times that pass meanwhile are left out. Resume it to have it run at its next time.',
  missed: (count: number, isSkipped: boolean) =>
    `${count === 1 ? 'One expected run' : `${count} expected runs`} did not happen at the scheduled time. ${
      isSkipped
        ? 'The schedule leaves out what it missed.'
        : 'The schedule makes up for what it missed with one late run.'
    }`,
});
