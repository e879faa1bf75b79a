import { createTexts } from '../isolate.ts';

/** The question who is there, before dangerous acts. */
export const confirmation = createTexts({
  title: 'Confirm that it is you',
  reason: 'What you are about to do needs your password again. It is asked for once in ten minutes.',
  password: (email: string) => `Password of ${email}`,
  submit: 'Confirm',
  without: 'No password?',
  otherTab: 'Confirm in a new tab',
  goOn: 'I have confirmed there',
});
