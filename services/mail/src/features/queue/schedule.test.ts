import { priorities } from './mail.js';
import { choosePriority, toExpiry, toNextAttempt } from './schedule.js';

const MINUTE = 60_000;

test('a mail is tried again after 1, 5 and 15 minutes, then every hour, until it expires', () => {
  const mail = { createdAt: new Date(0), expiresAt: new Date(24 * 60 * MINUTE) };
  const delays = [1, 2, 3, 4, 5, 9].map((attempts) => toNextAttempt({ ...mail, attempts }, 0)?.getTime());
  expect(delays).toEqual([1, 5, 15, 60, 60, 60].map((minutes) => minutes * MINUTE));
  expect(toNextAttempt({ ...mail, attempts: 4 }, 23.5 * 60 * MINUTE)).toBeUndefined();
});

test('a code that is valid for ten minutes is tried again after 2.5, 10 and then every 30 seconds', () => {
  const mail = { createdAt: new Date(0), expiresAt: new Date(10 * MINUTE) };
  const delays = [1, 2, 3, 9].map((attempts) => toNextAttempt({ ...mail, attempts }, 0)?.getTime());
  expect(delays).toEqual([2_500, 10_000, 30_000, 30_000]);
  expect(toNextAttempt({ ...mail, attempts: 3 }, 9.8 * MINUTE)).toBeUndefined();
});

test('only the platform uses the priorities of codes and notices', () => {
  expect(choosePriority('loginWithOTP', true)).toBe(priorities.code);
  expect(choosePriority('loginWithOTP', false)).toBe(priorities.bulk);
  expect(choosePriority('passwordChanged', true)).toBe(priorities.notice);
  expect(choosePriority('accountCreation', false)).toBe(priorities.bulk);
});

test('a mail expires when its request says so, after a week at most, or with its template', () => {
  expect(toExpiry('loginWithOTP', 0)).toBe(10 * MINUTE);
  expect(toExpiry('accountCreation', 0)).toBe(24 * 60 * MINUTE);
  expect(toExpiry('accountCreation', 0, 5 * MINUTE)).toBe(5 * MINUTE);
  expect(toExpiry('accountCreation', 0, 1e15)).toBe(7 * 24 * 60 * MINUTE);
});
