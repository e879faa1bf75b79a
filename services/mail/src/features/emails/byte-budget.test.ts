import { createByteBudget } from './byte-budget.js';

test('no more bytes are given than there are, and each once', () => {
  const budget = createByteBudget(10);
  const giveBack = budget.take(6);
  expect(() => budget.take(5)).toThrow('Too many large mails at once');
  budget.take(4);
  giveBack();
  giveBack();
  expect(() => budget.take(7)).toThrow('Too many large mails at once');
  budget.take(6);
});
