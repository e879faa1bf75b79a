import { describeCron } from './describe-cron.ts';

test.each([
  // A step that does not divide the day starts over at midnight.
  ['0 */7 * * *', /At 00:00, 07:00, 14:00,? and 21:00/],
  ['*/25 * * * *', /0, 25,? and 50 minutes past the hour/],
  ['0 */6 * * *', /every 6 hours/],
  ['*/20 * * * *', /Every 20 minutes/],
])('%s is put into the words of what it does', (expression, words) => {
  expect(describeCron(expression)).toMatch(words);
});
