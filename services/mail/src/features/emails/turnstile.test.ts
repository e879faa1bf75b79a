import { createTurnstile } from './turnstile.js';

test('an organisation gets no more than its places, all together no more than there are', () => {
  const turnstile = createTurnstile(3, 2);
  const leave = turnstile.enter('a');
  turnstile.enter('a');
  expect(() => turnstile.enter('a')).toThrow('Too many mails are under way');
  turnstile.enter('b');
  expect(() => turnstile.enter('c')).toThrow('Too many mails are under way');
  leave();
  turnstile.enter('c');
  expect(() => turnstile.enter('a')).toThrow('Too many mails are under way');
});
